// Drives a CQL server with the Go driver.
//
//	check HOST PORT VERSION COMPRESSION
//
// The environment says the rest, as for every driver's program: ../README.md.
// Prints `ok NAME` or `not ok NAME: why` for each check; exits 0 when all passed.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
	"github.com/apache/cassandra-gocql-driver/v2/snappy"
)

// A suite is one session in a keyspace of its own.
type suite struct {
	session  *gocql.Session
	events   *events
	cluster  func() *gocql.ClusterConfig
	keyspace string
	version  int
	tables   int
	failed   int
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: check HOST PORT VERSION COMPRESSION")
		os.Exit(2)
	}
	port, errPort := strconv.Atoi(os.Args[2])
	version, errVersion := strconv.Atoi(os.Args[3])
	if errPort != nil || errVersion != nil {
		fmt.Fprintln(os.Stderr, "PORT and VERSION are numbers")
		os.Exit(2)
	}
	compressor, known := compressors[os.Args[4]]
	if !known {
		fmt.Fprintln(os.Stderr, "COMPRESSION is none, lz4 or snappy")
		os.Exit(2)
	}
	s, err := open(os.Args[1], port, version, compressor)
	if err != nil {
		fmt.Printf("not ok connect: %v\n", err)
		os.Exit(1)
	}
	for _, c := range []struct {
		name string
		body func(*suite) error
	}{
		{"native_types", nativeTypes},
		{"nulls_and_zero_values", nulls},
		{"collections", collections},
		{"user_types_and_tuples", userTypes},
		{"vectors", vectors},
		{"types_that_grew", grownTypes},
		{"prepared_statements", prepared},
		{"two_clients_prepare_again", preparedTwice},
		{"batches", batches},
		{"counters", counters},
		{"lightweight_transactions", transactions},
		{"time_to_live_and_timestamps", times},
		{"paging", paging},
		{"pages_without_rows", emptyPages},
		{"a_large_cell", largeCell},
		{"messages_around_the_size_of_a_segment", segmentSizes},
		{"a_page_of_200_kb", largePage},
		{"many_at_once", concurrency},
		{"errors", errorsAreTold},
		{"schema_metadata", metadata},
		{"schema_events", schemaEvents},
		{"a_request_times_out", timeouts},
	} {
		if err := c.body(s); err != nil {
			s.failed++
			fmt.Printf("not ok %s: %s\n", c.name, strings.Join(strings.Fields(err.Error()), " "))
		} else {
			fmt.Printf("ok %s\n", c.name)
		}
	}
	if err := s.exec("DROP KEYSPACE " + s.keyspace); err != nil {
		s.failed++
		fmt.Printf("not ok drop_keyspace: %v\n", err)
	} else {
		fmt.Println("ok drop_keyspace")
	}
	s.session.Close()
	// The last one: the server forgets what the others made.
	if err := restart(s); err != nil {
		s.failed++
		fmt.Printf("not ok a_session_outlives_its_server: %v\n", err)
	} else {
		fmt.Println("ok a_session_outlives_its_server")
	}
	if s.failed > 0 {
		os.Exit(1)
	}
}

var compressors = map[string]gocql.Compressor{
	"none":   nil,
	"lz4":    lz4.LZ4Compressor{},
	"snappy": snappy.SnappyCompressor{},
}

func cluster(host string, port, version int, compressor gocql.Compressor) *gocql.ClusterConfig {
	c := gocql.NewCluster(host)
	c.Port = port
	c.ProtoVersion = version
	c.Timeout = 30 * time.Second
	c.ConnectTimeout = 10 * time.Second
	c.Consistency = gocql.One
	c.Compressor = compressor
	if ca := os.Getenv("CHECK_CA"); ca != "" {
		c.SslOpts = &gocql.SslOptions{
			Config: &tls.Config{ServerName: host}, CaPath: ca, EnableHostVerification: true,
		}
	}
	if user := os.Getenv("CHECK_USER"); user != "" {
		c.Authenticator = gocql.PasswordAuthenticator{Username: user, Password: os.Getenv("CHECK_PASSWORD")}
	}
	return c
}

// control has the harness pause, resume or restart the server; false where nobody can.
func control(word string) (bool, error) {
	port := os.Getenv("CHECK_CONTROL")
	if port == "" {
		return false, nil
	}
	harness, err := net.DialTimeout("tcp", "127.0.0.1:"+port, 30*time.Second)
	if err != nil {
		return true, err
	}
	defer harness.Close()
	if _, err := fmt.Fprintln(harness, word); err != nil {
		return true, err
	}
	if said, err := io.ReadAll(harness); err != nil || len(said) > 0 {
		return true, fmt.Errorf("%s: %s%v", word, said, err)
	}
	return true, nil
}

func open(host string, port, version int, compressor gocql.Compressor) (*suite, error) {
	configure := func() *gocql.ClusterConfig { return cluster(host, port, version, compressor) }
	s := &suite{keyspace: fmt.Sprintf("gocql_v%d", version), version: version, events: newEvents(), cluster: configure}
	first, err := configure().CreateSession()
	if err != nil {
		return nil, err
	}
	for _, text := range []string{
		"DROP KEYSPACE IF EXISTS " + s.keyspace,
		"CREATE KEYSPACE " + s.keyspace +
			" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	} {
		if err := first.Query(text).Exec(); err != nil {
			return nil, err
		}
	}
	first.Close()
	config := configure()
	config.Keyspace = s.keyspace
	config.Metadata.SchemaListener.TableChangeListener = s.events
	config.Metadata.SchemaListener.KeyspaceChangeListener = s.events
	config.Metadata.SchemaListener.UserTypeChangeListener = s.events
	s.session, err = config.CreateSession()
	return s, err
}

func (s *suite) exec(text string, values ...any) error {
	if err := s.session.Query(text, values...).Exec(); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

// table creates a table of these columns and gives its name.
func (s *suite) table(definition string) (string, error) {
	s.tables++
	name := fmt.Sprintf("t%d", s.tables)
	return name, s.exec(fmt.Sprintf("CREATE TABLE %s (%s)", name, definition))
}

// row scans the only row of a query.
func (s *suite) row(text string, values []any, into ...any) error {
	if err := s.session.Query(text, values...).Scan(into...); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	return nil
}

func equal(what string, got, wanted any) error {
	if !reflect.DeepEqual(got, wanted) {
		return fmt.Errorf("%s: got %#v, wanted %#v", what, got, wanted)
	}
	return nil
}

// first gives the first of several errors.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
