package main

import (
	"fmt"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

// events remembers the schema changes that the driver was told of.
type events struct {
	mutex sync.Mutex
	seen  map[string]bool
}

func newEvents() *events { return &events{seen: map[string]bool{}} }

func (e *events) saw(what, keyspace, name string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.seen[fmt.Sprintf("%s %s.%s", what, keyspace, name)] = true
}

func (e *events) expect(what, keyspace, name string) error {
	text := fmt.Sprintf("%s %s.%s", what, keyspace, name)
	return eventually("event", func() error {
		e.mutex.Lock()
		defer e.mutex.Unlock()
		if !e.seen[text] {
			return fmt.Errorf("not seen: %s", text)
		}
		return nil
	})
}

func (e *events) OnKeyspaceCreated(event gocql.OnKeyspaceCreatedEvent) {
	e.saw("created", event.Keyspace.Name, "")
}

func (e *events) OnKeyspaceUpdated(event gocql.OnKeyspaceUpdatedEvent) {
	e.saw("updated", event.New.Name, "")
}

func (e *events) OnKeyspaceDropped(event gocql.OnKeyspaceDroppedEvent) {
	e.saw("dropped", event.Keyspace.Name, "")
}

func (e *events) OnTableCreated(event gocql.OnTableCreatedEvent) {
	e.saw("created", event.Table.Keyspace, event.Table.Name)
}

func (e *events) OnTableUpdated(event gocql.OnTableUpdatedEvent) {
	e.saw("updated", event.New.Keyspace, event.New.Name)
}

func (e *events) OnTableDropped(event gocql.OnTableDroppedEvent) {
	e.saw("dropped", event.Table.Keyspace, event.Table.Name)
}

func (e *events) OnUserTypeCreated(event gocql.OnUserTypeCreatedEvent) {
	e.saw("created", event.UserType.Keyspace, event.UserType.Name)
}

func (e *events) OnUserTypeUpdated(event gocql.OnUserTypeUpdatedEvent) {
	e.saw("updated", event.New.Keyspace, event.New.Name)
}

func (e *events) OnUserTypeDropped(event gocql.OnUserTypeDroppedEvent) {
	e.saw("dropped", event.UserType.Keyspace, event.UserType.Name)
}

func schemaEvents(s *suite) error {
	other := s.keyspace + "_other"
	for _, step := range []struct{ text, what, keyspace, name string }{
		{"CREATE TABLE evented (k int PRIMARY KEY)", "created", s.keyspace, "evented"},
		{"ALTER TABLE evented ADD v int", "updated", s.keyspace, "evented"},
		{"DROP TABLE evented", "dropped", s.keyspace, "evented"},
		{"CREATE TYPE evented_type (a int)", "created", s.keyspace, "evented_type"},
		{"ALTER TYPE evented_type ADD b int", "updated", s.keyspace, "evented_type"},
		{"DROP TYPE evented_type", "dropped", s.keyspace, "evented_type"},
		{"CREATE KEYSPACE " + other + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}", "created", other, ""},
		{"ALTER KEYSPACE " + other + " WITH durable_writes = false", "updated", other, ""},
		{"DROP KEYSPACE " + other, "dropped", other, ""},
	} {
		if err := first(s.exec(step.text), s.events.expect(step.what, step.keyspace, step.name)); err != nil {
			return err
		}
	}
	return nil
}
