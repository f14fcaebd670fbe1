package main

import (
	"bytes"
	"fmt"
	"strings"
)

// The most that a segment carries.
const segment = 131071

func blob(k, size int) []byte {
	value := make([]byte, size)
	for i := range value {
		value[i] = byte((i*7 + k) % 251)
	}
	return value
}

func thereAndBack(s *suite, sizes []int) error {
	t, err := s.table("k int PRIMARY KEY, b blob")
	if err != nil {
		return err
	}
	for _, size := range sizes {
		var got []byte
		if err := first(
			s.exec("INSERT INTO "+t+" (k, b) VALUES (?, ?)", size, blob(size, size)),
			s.row("SELECT b FROM "+t+" WHERE k = ?", []any{size}, &got),
		); err != nil {
			return err
		}
		if !bytes.Equal(got, blob(size, size)) {
			return fmt.Errorf("a cell of %d bytes came back otherwise", size)
		}
	}
	return nil
}

func largeCell(s *suite) error { return thereAndBack(s, []int{0, 1, 300_000, 3 << 20}) }

// What surrounds the cell takes some dozens of bytes: one of these requests, and one of these answers, has exactly
// 131071 bytes, and the next 131072.
func segmentSizes(s *suite) error {
	sizes := []int{segment, segment + 1}
	for size := segment - 130; size < segment-20; size++ {
		sizes = append(sizes, size)
	}
	return thereAndBack(s, sizes)
}

func largePage(s *suite) error {
	t, err := s.table("p int, c int, t text, PRIMARY KEY (p, c)")
	if err != nil {
		return err
	}
	for c := 0; c < 500; c++ {
		if err := s.exec("INSERT INTO "+t+" (p, c, t) VALUES (1, ?, ?)", c, strings.Repeat(fmt.Sprintf("%04d", c), 100)); err != nil {
			return err
		}
	}
	iter := s.session.Query("SELECT c, t FROM " + t + " WHERE p = 1").PageSize(500).Iter()
	if err := equal("rows of the page", iter.NumRows(), 500); err != nil {
		return err
	}
	var c int
	var text string
	for i := 0; iter.Scan(&c, &text); i++ {
		if c != i || text != strings.Repeat(fmt.Sprintf("%04d", c), 100) {
			return fmt.Errorf("row %d is %d: %s", i, c, text)
		}
	}
	return iter.Close()
}
