// Drives a CQL server with the Go driver.
//
//	check HOST PORT VERSION
//
// Prints `ok NAME` or `not ok NAME: why` for each check; exits 0 when all passed.
package main

import (
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/apache/cassandra-gocql-driver/v2/lz4"
)

// A suite is one session in a keyspace of its own.
type suite struct {
	session  *gocql.Session
	events   *events
	keyspace string
	version  int
	tables   int
	failed   int
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: check HOST PORT VERSION")
		os.Exit(2)
	}
	port, errPort := strconv.Atoi(os.Args[2])
	version, errVersion := strconv.Atoi(os.Args[3])
	if errPort != nil || errVersion != nil {
		fmt.Fprintln(os.Stderr, "PORT and VERSION are numbers")
		os.Exit(2)
	}
	s, err := open(os.Args[1], port, version)
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
		{"prepared_statements", prepared},
		{"batches", batches},
		{"counters", counters},
		{"lightweight_transactions", transactions},
		{"time_to_live_and_timestamps", times},
		{"paging", paging},
		{"many_at_once", concurrency},
		{"errors", errorsAreTold},
		{"schema_metadata", metadata},
		{"schema_events", schemaEvents},
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
	if s.failed > 0 {
		os.Exit(1)
	}
}

func cluster(host string, port, version int) *gocql.ClusterConfig {
	c := gocql.NewCluster(host)
	c.Port = port
	c.ProtoVersion = version
	c.Timeout = 30 * time.Second
	c.ConnectTimeout = 10 * time.Second
	c.Consistency = gocql.One
	c.Compressor = lz4.LZ4Compressor{}
	return c
}

func open(host string, port, version int) (*suite, error) {
	s := &suite{keyspace: fmt.Sprintf("gocql_v%d", version), version: version, events: newEvents()}
	first, err := cluster(host, port, version).CreateSession()
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
	config := cluster(host, port, version)
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
