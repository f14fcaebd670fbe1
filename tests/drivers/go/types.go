package main

import (
	"fmt"
	"math"
	"math/big"
	"net"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"gopkg.in/inf.v0"
)

func bigInt(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

func uuid(text string) gocql.UUID {
	id, err := gocql.ParseUUID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// roundTrip binds a value into a column and scans it back.
func roundTrip[T any](s *suite, table, column string, value T, same func(a, b T) bool) error {
	insert := fmt.Sprintf("INSERT INTO %s (k, %s) VALUES (?, ?)", table, column)
	if err := s.exec(insert, 1, value); err != nil {
		return err
	}
	var got T
	if err := s.row(fmt.Sprintf("SELECT %s FROM %s WHERE k = ?", column, table), []any{1}, &got); err != nil {
		return err
	}
	if !same(got, value) {
		return fmt.Errorf("%s: got %v, wanted %v", column, got, value)
	}
	return nil
}

func same[T comparable](a, b T) bool { return a == b }

func nativeTypes(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, c_ascii ascii, c_bigint bigint, c_blob blob, c_boolean boolean, " +
		"c_date date, c_decimal decimal, c_double double, c_duration duration, c_float float, c_inet inet, " +
		"c_int int, c_smallint smallint, c_text text, c_time time, c_timestamp timestamp, c_timeuuid timeuuid, " +
		"c_tinyint tinyint, c_uuid uuid, c_varint varint")
	if err != nil {
		return err
	}
	duration := gocql.Duration{Months: 14, Days: 3, Nanoseconds: 1234567890123}
	errs := []error{
		roundTrip(s, t, "c_ascii", "plain", same[string]),
		roundTrip(s, t, "c_bigint", int64(math.MinInt64), same[int64]),
		roundTrip(s, t, "c_bigint", int64(math.MaxInt64), same[int64]),
		roundTrip(s, t, "c_blob", []byte{0, 1, 254, 255}, func(a, b []byte) bool { return string(a) == string(b) }),
		roundTrip(s, t, "c_boolean", true, same[bool]),
		roundTrip(s, t, "c_boolean", false, same[bool]),
		roundTrip(s, t, "c_date", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC), time.Time.Equal),
		roundTrip(s, t, "c_decimal", inf.NewDec(-110, 2), func(a, b *inf.Dec) bool { return a.Cmp(b) == 0 }),
		roundTrip(s, t, "c_double", -2.25e300, same[float64]),
		roundTrip(s, t, "c_double", math.Inf(1), same[float64]),
		roundTrip(s, t, "c_duration", duration, same[gocql.Duration]),
		roundTrip(s, t, "c_float", float32(0.25), same[float32]),
		roundTrip(s, t, "c_inet", net.ParseIP("10.1.2.3"), func(a, b net.IP) bool { return a.Equal(b) }),
		roundTrip(s, t, "c_inet", net.ParseIP("2001:db8::1"), func(a, b net.IP) bool { return a.Equal(b) }),
		roundTrip(s, t, "c_int", math.MinInt32, same[int]),
		roundTrip(s, t, "c_int", math.MaxInt32, same[int]),
		roundTrip(s, t, "c_smallint", int16(math.MinInt16), same[int16]),
		roundTrip(s, t, "c_text", "Ελληνικά 𝄞", same[string]),
		roundTrip(s, t, "c_time", 23*time.Hour+59*time.Minute+999999999*time.Nanosecond, same[time.Duration]),
		roundTrip(s, t, "c_timestamp", time.UnixMilli(1709210096789).UTC(), time.Time.Equal),
		roundTrip(s, t, "c_timeuuid", uuid("8e14e760-7fa8-11eb-bc66-000000000001"), same[gocql.UUID]),
		roundTrip(s, t, "c_tinyint", int8(-128), same[int8]),
		roundTrip(s, t, "c_uuid", uuid("5b6962dd-3f90-4c93-8f61-eabfa4a803e2"), same[gocql.UUID]),
		roundTrip(s, t, "c_varint", bigInt("-123456789012345678901234567890"), func(a, b *big.Int) bool { return a.Cmp(b) == 0 }),
	}
	return first(errs...)
}

func nulls(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, a text, b int, c uuid")
	if err != nil {
		return err
	}
	var a *string
	var b *int
	var c *gocql.UUID
	if err := first(
		s.exec("INSERT INTO "+t+" (k, a, b, c) VALUES (?, ?, ?, ?)", 1, "", 0, nil),
		s.row("SELECT a, b, c FROM "+t+" WHERE k = 1", nil, &a, &b, &c),
	); err != nil {
		return err
	}
	if a == nil || *a != "" || b == nil || *b != 0 || c != nil {
		return fmt.Errorf("got %v %v %v", a, b, c)
	}
	if s.version < 4 {
		return nil
	}
	// An unset value leaves the column as it was; a null deletes it.
	if err := first(
		s.exec("INSERT INTO "+t+" (k, a, b) VALUES (?, ?, ?)", 1, gocql.UnsetValue, nil),
		s.row("SELECT a, b FROM "+t+" WHERE k = 1", nil, &a, &b),
	); err != nil {
		return err
	}
	if a == nil || *a != "" || b != nil {
		return fmt.Errorf("after unset and null: %v %v", a, b)
	}
	return nil
}

func collections(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, l list<int>, s set<text>, m map<text, bigint>, " +
		"f frozen<map<int, frozen<list<text>>>>")
	if err != nil {
		return err
	}
	nested := map[int][]string{1: {"a", "b"}, 2: {}}
	if err := s.exec("INSERT INTO "+t+" (k, l, s, m, f) VALUES (?, ?, ?, ?, ?)", 1, []int{3, 1, 3},
		[]string{"b", "a"}, map[string]int64{"x": -1, "y": 1 << 40}, nested); err != nil {
		return err
	}
	if err := first(
		s.exec("UPDATE "+t+" SET l = l + ?, m[?] = ?, s = s - ? WHERE k = 1", []int{7}, "z", int64(9), []string{"b"}),
		s.exec("DELETE l[0] FROM "+t+" WHERE k = 1"),
	); err != nil {
		return err
	}
	var l []int
	var set []string
	var m map[string]int64
	var f map[int][]string
	if err := s.row("SELECT l, s, m, f FROM "+t+" WHERE k = 1", nil, &l, &set, &m, &f); err != nil {
		return err
	}
	return first(
		equal("list", l, []int{1, 3, 7}),
		equal("set", set, []string{"a"}),
		equal("map", m, map[string]int64{"x": -1, "y": 1 << 40, "z": 9}),
		equal("nested", f, nested),
	)
}

type address struct {
	Street string `cql:"street"`
	Number int    `cql:"number"`
}

func userTypes(s *suite) error {
	if err := s.exec("CREATE TYPE address (street text, number int)"); err != nil {
		return err
	}
	t, err := s.table("k int PRIMARY KEY, a frozen<address>, l list<frozen<address>>, t tuple<int, text>")
	if err != nil {
		return err
	}
	home, work := address{"Main", 7}, address{"Side", 8}
	if err := s.exec("INSERT INTO "+t+" (k, a, l, t) VALUES (?, ?, ?, (?, ?))", 1, home, []address{work, home}, 5, "five"); err != nil {
		return err
	}
	var a address
	var l []address
	var number int
	var text, street string
	if err := first(
		s.row("SELECT a, l, t FROM "+t+" WHERE k = 1", nil, &a, &l, &number, &text),
		s.row("SELECT a.street FROM "+t+" WHERE k = 1", nil, &street),
	); err != nil {
		return err
	}
	return first(
		equal("user type", a, home),
		equal("list of user types", l, []address{work, home}),
		equal("tuple", []any{number, text}, []any{5, "five"}),
		equal("field", street, "Main"),
	)
}

// A type that gained a field: what was written before lacks it.
func grownTypes(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, a frozen<place>")
	if err == nil {
		return fmt.Errorf("a table of a type that isn't there: %s", t)
	}
	if err := s.exec("CREATE TYPE place (street text)"); err != nil {
		return err
	}
	t, err = s.table("k int PRIMARY KEY, a frozen<place>")
	if err != nil {
		return err
	}
	old, grown := map[string]any{}, map[string]any{}
	return first(
		s.exec("INSERT INTO "+t+" (k, a) VALUES (?, ?)", 1, map[string]any{"street": "Old"}),
		s.exec("ALTER TYPE place ADD number int"),
		s.exec("INSERT INTO "+t+" (k, a) VALUES (2, {street: 'New', number: 7})"),
		s.row("SELECT a FROM "+t+" WHERE k = 1 LIMIT 1", nil, &old),
		s.row("SELECT a FROM "+t+" WHERE k = 2 LIMIT 1", nil, &grown),
		equal("street", []any{old["street"], grown["street"], grown["number"]}, []any{"Old", "New", 7}),
		equal("what it lacks", old["number"] == nil || old["number"] == 0, true),
	)
}

func vectors(s *suite) error {
	t, err := s.table("k int PRIMARY KEY, f vector<float, 3>, t vector<text, 2>")
	if err != nil {
		return err
	}
	if err := s.exec("INSERT INTO "+t+" (k, f, t) VALUES (?, ?, ?)", 1, []float32{0.5, -1, 2.25}, []string{"a", "longer"}); err != nil {
		return err
	}
	var f []float32
	var texts []string
	if err := s.row("SELECT f, t FROM "+t, nil, &f, &texts); err != nil {
		return err
	}
	return first(equal("floats", f, []float32{0.5, -1, 2.25}), equal("texts", texts, []string{"a", "longer"}))
}
