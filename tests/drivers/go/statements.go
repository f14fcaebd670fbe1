package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
)

func prepared(s *suite) error {
	t, err := s.table("p int, c text, v int, PRIMARY KEY (p, c)")
	if err != nil {
		return err
	}
	for c := 0; c < 10; c++ {
		if err := s.exec("INSERT INTO "+t+" (p, c, v) VALUES (?, ?, ?)", 1, fmt.Sprintf("c%d", c), c); err != nil {
			return err
		}
	}
	var got []int
	iter := s.session.Query("SELECT v FROM "+t+" WHERE p = ? AND c IN ? LIMIT ?", 1, []string{"c7", "c2", "c9"}, 2).Iter()
	for v := 0; iter.Scan(&v); {
		got = append(got, v)
	}
	if err := first(iter.Close(), equal("rows", got, []int{2, 7})); err != nil {
		return err
	}
	// The statement outlives a change of its table.
	if err := first(s.exec("ALTER TABLE "+t+" ADD w text"), s.exec("UPDATE "+t+" SET w = ? WHERE p = ? AND c = ?", "new", 1, "c1")); err != nil {
		return err
	}
	row := map[string]any{}
	if err := s.session.Query("SELECT * FROM "+t+" WHERE p = ? AND c = ?", 1, "c1").MapScan(row); err != nil {
		return err
	}
	return equal("row", row, map[string]any{"p": 1, "c": "c1", "v": 1, "w": "new"})
}

// Either client changes the table, and both go on with what they prepared.
func preparedTwice(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, v text")
	if err != nil {
		return err
	}
	config := s.cluster()
	config.Keyspace = s.keyspace
	other, err := config.CreateSession()
	if err != nil {
		return err
	}
	defer other.Close()
	clients := []*gocql.Session{s.session, other}
	for step := 0; step < 3; step++ {
		if step > 0 {
			text := fmt.Sprintf("ALTER TABLE %s ADD added%d int", t, step)
			if err := clients[step-1].Query(text).Exec(); err != nil {
				return err
			}
		}
		for k, client := range clients {
			var v string
			wanted := fmt.Sprint("v", step)
			if err := first(
				client.Query("INSERT INTO "+t+" (k, v) VALUES (?, ?)", k, wanted).Exec(),
				client.Query("SELECT v FROM "+t+" WHERE k = ?", k).Scan(&v),
				equal("value", v, wanted),
			); err != nil {
				return err
			}
		}
	}
	return s.session.AwaitSchemaAgreement(context.Background())
}

func batches(s *suite) error {
	t, err := s.table("p int, c int, v text, PRIMARY KEY (p, c)")
	if err != nil {
		return err
	}
	for p, kind := range []gocql.BatchType{gocql.LoggedBatch, gocql.UnloggedBatch} {
		batch := s.session.Batch(kind).WithTimestamp(1000)
		for c := 0; c < 5; c++ {
			batch.Query("INSERT INTO "+t+" (p, c, v) VALUES (?, ?, ?)", p, c, fmt.Sprintf("v%d", c))
		}
		batch.Query(fmt.Sprintf("DELETE FROM %s WHERE p = %d AND c = 3", t, p))
		if err := batch.Exec(); err != nil {
			return err
		}
		var count, written int64
		if err := first(
			s.row("SELECT count(*) FROM "+t+" WHERE p = ?", []any{p}, &count),
			s.row("SELECT writetime(v) FROM "+t+" WHERE p = ? AND c = 0", []any{p}, &written),
			equal("rows", count, int64(4)),
			equal("timestamp", written, int64(1000)),
		); err != nil {
			return err
		}
	}
	return nil
}

func counters(s *suite) error {
	t, err := s.table("k text PRIMARY KEY, n counter")
	if err != nil {
		return err
	}
	batch := s.session.Batch(gocql.CounterBatch)
	for i := 1; i <= 4; i++ {
		batch.Query("UPDATE "+t+" SET n = n + ? WHERE k = ?", int64(i), "a")
	}
	var n int64
	return first(
		batch.Exec(),
		s.exec("UPDATE "+t+" SET n = n - 3 WHERE k = 'a'"),
		s.row("SELECT n FROM "+t, nil, &n),
		equal("counter", n, int64(7)),
	)
}

func transactions(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, v int")
	if err != nil {
		return err
	}
	var k, v int
	for i, wanted := range []bool{true, false} {
		applied, err := s.session.Query("INSERT INTO "+t+" (k, v) VALUES (?, ?) IF NOT EXISTS", 1, 10+i).ScanCAS(&k, &v)
		if err := first(err, equal("insert applied", applied, wanted)); err != nil {
			return err
		}
	}
	if err := equal("the row that was there", []int{k, v}, []int{1, 10}); err != nil {
		return err
	}
	applied, err := s.session.Query("UPDATE "+t+" SET v = ? WHERE k = ? IF v = ?", 20, 1, 10).ScanCAS(&v)
	if err := first(err, equal("update applied", applied, true)); err != nil {
		return err
	}
	applied, err = s.session.Query("UPDATE "+t+" SET v = ? WHERE k = ? IF v = ?", 30, 1, 10).ScanCAS(&v)
	return first(err, equal("second update applied", applied, false), equal("value that was there", v, 20))
}

func times(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, v text")
	if err != nil {
		return err
	}
	var ttl int
	var written int64
	if err := first(
		s.exec("INSERT INTO "+t+" (k, v) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?", 1, "a", 1000, int64(123456)),
		s.row("SELECT ttl(v), writetime(v) FROM "+t, nil, &ttl, &written),
		equal("writetime", written, int64(123456)),
	); err != nil {
		return err
	}
	if ttl < 990 || ttl > 1000 {
		return fmt.Errorf("ttl %d", ttl)
	}
	var v string
	return first(
		s.session.Query("INSERT INTO "+t+" (k, v) VALUES (1, 'later')").WithTimestamp(200000).Exec(),
		s.session.Query("INSERT INTO "+t+" (k, v) VALUES (1, 'earlier')").WithTimestamp(150000).Exec(),
		s.row("SELECT v FROM "+t, nil, &v),
		equal("the later write wins", v, "later"),
	)
}

func paging(s *suite) error {
	t, err := s.table("p int, c int, PRIMARY KEY (p, c)")
	if err != nil {
		return err
	}
	for c := 0; c < 50; c++ {
		if err := s.exec("INSERT INTO "+t+" (p, c) VALUES (?, ?)", c%5, c); err != nil {
			return err
		}
	}
	for _, size := range []int{1, 7, 49, 50, 51} {
		seen := map[int]int{}
		iter := s.session.Query("SELECT c FROM " + t).PageSize(size).Iter()
		for c := 0; iter.Scan(&c); {
			seen[c]++
		}
		if err := first(iter.Close(), equal(fmt.Sprintf("rows at page size %d", size), len(seen), 50)); err != nil {
			return err
		}
	}
	// Page by page, each with the state of the one before.
	var sizes []int
	var state []byte
	for {
		iter := s.session.Query("SELECT c FROM "+t+" WHERE p = ?", 1).PageSize(4).PageState(state).Iter()
		sizes = append(sizes, iter.NumRows())
		state = iter.PageState()
		if err := iter.Close(); err != nil {
			return err
		}
		if len(state) == 0 {
			break
		}
	}
	return equal("page sizes", sizes, []int{4, 4, 2})
}

// Pages without rows end, or go on to those that have some.
func emptyPages(s *suite) error {
	t, err := s.table("p int, c int, v int, PRIMARY KEY (p, c)")
	if err != nil {
		return err
	}
	count := func(text string) (rows int, err error) {
		iter := s.session.Query(text).PageSize(2).Iter()
		for c := 0; iter.Scan(&c); {
			rows++
		}
		return rows, iter.Close()
	}
	everything, errEmpty := count("SELECT c FROM " + t)
	if err := first(errEmpty, equal("rows of an empty table", everything, 0)); err != nil {
		return err
	}
	for i := 0; i < 40; i++ {
		if err := s.exec("INSERT INTO "+t+" (p, c, v) VALUES (?, ?, ?)", i%10, i, i); err != nil {
			return err
		}
	}
	filtered, errFiltered := count("SELECT c FROM " + t + " WHERE v = 77 ALLOW FILTERING")
	for p := 1; p < 10; p++ {
		if err := s.exec(fmt.Sprintf("DELETE FROM %s WHERE p = %d", t, p)); err != nil {
			return err
		}
	}
	left, errLeft := count("SELECT c FROM " + t)
	return first(errFiltered, errLeft, equal("rows that match", filtered, 0), equal("rows left", left, 4))
}

func concurrency(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, v text")
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	failures := make(chan error, 64)
	for worker := 0; worker < 32; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 20; i++ {
				k, v := worker*20+i, ""
				err := first(
					s.exec("INSERT INTO "+t+" (k, v) VALUES (?, ?)", k, fmt.Sprint("v", k)),
					s.row("SELECT v FROM "+t+" WHERE k = ?", []any{k}, &v),
				)
				if err := first(err, equal("value", v, fmt.Sprint("v", k))); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	return <-failures
}

func errorsAreTold(s *suite) error {
	for text, message := range map[string]string{
		"SELEC 1":                          "line 1:0 no viable alternative at input 'SELEC'",
		"SELECT * FROM nosuchtable":        "table nosuchtable does not exist",
		"SELECT nothing FROM system.local": "Undefined column name nothing in table system.local",
	} {
		err := s.session.Query(text).Exec()
		if err == nil || !strings.Contains(err.Error(), message) {
			return fmt.Errorf("%s: %v", text, err)
		}
	}
	var exists *gocql.RequestErrAlreadyExists
	err := s.exec("CREATE KEYSPACE " + s.keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	if !errors.As(err, &exists) || exists.Keyspace != s.keyspace {
		return fmt.Errorf("already exists: %v", err)
	}
	var unavailable *gocql.RequestErrUnavailable
	err = s.session.Query("SELECT key FROM system_schema.keyspaces").Consistency(gocql.Two).Exec()
	if err == nil {
		return errors.New("a wrong column was accepted")
	}
	t, err := s.table("k int PRIMARY KEY")
	if err != nil {
		return err
	}
	err = s.session.Query("SELECT k FROM " + t + " WHERE k = 1").Consistency(gocql.Two).Exec()
	if !errors.As(err, &unavailable) || unavailable.Required != 2 || unavailable.Alive != 1 {
		return fmt.Errorf("unavailable: %v", err)
	}
	return nil
}

func metadata(s *suite) error {
	if err := s.exec("CREATE TABLE described (a int, b text, c timeuuid, v map<text, frozen<list<int>>>, PRIMARY KEY ((a, b), c)) WITH CLUSTERING ORDER BY (c DESC)"); err != nil {
		return err
	}
	return eventually("the table in the metadata", func() error {
		keyspace, err := s.session.KeyspaceMetadata(s.keyspace)
		if err != nil {
			return err
		}
		table, found := keyspace.Tables["described"]
		if !found {
			return errors.New("no table")
		}
		var parts, clustering []string
		for _, column := range table.PartitionKey {
			parts = append(parts, column.Name)
		}
		for _, column := range table.ClusteringColumns {
			clustering = append(clustering, fmt.Sprint(column.Name, " ", column.ClusteringOrder))
		}
		return first(
			equal("strategy", keyspace.StrategyClass, "org.apache.cassandra.locator.SimpleStrategy"),
			equal("partition key", parts, []string{"a", "b"}),
			equal("clustering columns", clustering, []string{"c desc"}),
			equal("type", table.Columns["v"].Type.Type(), gocql.TypeMap),
			equal("user type", keyspace.UserTypes["address"].FieldNames, []string{"street", "number"}),
		)
	})
}

// eventually tries for ten seconds.
func eventually(what string, body func() error) error {
	end := time.Now().Add(10 * time.Second)
	for {
		err := body()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s: %w", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
