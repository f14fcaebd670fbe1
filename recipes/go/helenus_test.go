package recipe

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"
)

// cassandra starts a server that lives as long as the test, and gives its host:port.
func cassandra(t *testing.T) string {
	server := exec.Command("helenus", "serve", "--listen", "127.0.0.1:0")
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	ready, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(ready)[2]
}
