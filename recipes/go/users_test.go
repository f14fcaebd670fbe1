package recipe

import (
	"testing"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

func TestStoresAUser(t *testing.T) {
	cluster := gocql.NewCluster(cassandra(t))
	cluster.Consistency = gocql.One
	session, err := cluster.CreateSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, cql := range []string{
		"CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE app.users (id int PRIMARY KEY, name text)",
		"INSERT INTO app.users (id, name) VALUES (1, 'Ada')",
	} {
		if err := session.Query(cql).Exec(); err != nil {
			t.Fatal(err)
		}
	}
	var name string
	if err := session.Query("SELECT name FROM app.users WHERE id = ?", 1).Scan(&name); err != nil || name != "Ada" {
		t.Fatal(name, err)
	}
}
