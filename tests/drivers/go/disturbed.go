package main

import (
	"context"
	"errors"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// timeouts asks a server that doesn't answer, and goes on on the same connection once it does.
func timeouts(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, v int")
	if err != nil {
		return err
	}
	insert := "INSERT INTO " + t + " (k, v) VALUES (?, ?)"
	if err := s.exec(insert, 1, 1); err != nil {
		return err
	}
	if can, err := control("pause"); err != nil || !can {
		return err
	}
	late := 0
	for k := 0; k < 3; k++ {
		limit, done := context.WithTimeout(context.Background(), 300*time.Millisecond)
		err := s.session.Query(insert, k, 10+k).ExecContext(limit)
		done()
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, gocql.ErrTimeoutNoResponse) {
			late++
		}
	}
	if _, err := control("resume"); err != nil {
		return err
	}
	if err := equal("requests that timed out", late, 3); err != nil {
		return err
	}
	// The late answers belong to nobody; what is asked now is answered with its own.
	for k := 0; k < 20; k++ {
		v := -1
		if err := first(s.exec(insert, k, k), s.row("SELECT v FROM "+t+" WHERE k = ?", []any{k}, &v), equal("value", v, k)); err != nil {
			return err
		}
	}
	return nil
}

// restart ends the server and starts it again, on the same port and without its memory.
func restart(s *suite) error {
	if can, err := control("resume"); err != nil || !can {
		return err
	}
	config := s.cluster()
	config.ReconnectInterval = 200 * time.Millisecond
	config.ReconnectionPolicy = &gocql.ConstantReconnectionPolicy{MaxRetries: 100, Interval: 100 * time.Millisecond}
	session, err := config.CreateSession()
	if err != nil {
		return err
	}
	defer session.Close()
	name := s.keyspace + "_again"
	schema := []string{
		"CREATE KEYSPACE " + name + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE " + name + ".t (k int PRIMARY KEY, v text)",
	}
	write := func(value string) error {
		for _, text := range schema {
			if err := session.Query(text).Exec(); err != nil {
				return err
			}
		}
		var v string
		return first(
			session.Query("INSERT INTO "+name+".t (k, v) VALUES (?, ?)", 1, value).Exec(),
			session.Query("SELECT v FROM "+name+".t WHERE k = ?", 1).Scan(&v),
			equal("value", v, value),
		)
	}
	if err := write("before"); err != nil {
		return err
	}
	if _, err := control("restart"); err != nil {
		return err
	}
	if err := eventually("an answer of the server that came back", func() error {
		return session.Query("SELECT key FROM system.local").Exec()
	}); err != nil {
		return err
	}
	// It keeps nothing: the statements that the driver prepared before are unknown, and prepared again.
	return first(write("after"), session.Query("DROP KEYSPACE "+name).Exec())
}
