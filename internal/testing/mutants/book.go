//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sync"
)

// result records that a lane killed a mutant, by the test named, or without a verdict that it did
// not.
type result struct{ Mutant, Lane, Verdict, Killer string }

// book holds the results in a file, for the next run, and in memory.
type book struct {
	f        *os.File
	mu       sync.Mutex
	verdicts map[string]string  // of the mutants that were killed
	suspects map[string]string  // what killed the mutants that only lanes of test-all killed up to then
	passed   map[[2]string]bool // mutants and lanes
}

func openBook(path string) (*book, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	b := &book{f: f, verdicts: map[string]string{}, suspects: map[string]string{}, passed: map[[2]string]bool{}}
	lines := json.NewDecoder(f)
	for {
		var r result
		if err := lines.Decode(&r); err == io.EOF {
			return b, nil
		} else if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		b.note(r)
	}
}

func (b *book) note(r result) {
	switch r.Verdict {
	case "":
		b.passed[[2]string{r.Mutant, r.Lane}] = true
	case suspected:
		b.suspects[r.Mutant] = r.Killer
	default:
		b.verdicts[r.Mutant] = r.Verdict
	}
}

// killer returns the name of the test that killed a suspect; "^": none is known.
func (b *book) killer(m mutant) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return cmp.Or(testName.FindString(b.suspects[m.String()]), "^")
}

var testName = regexp.MustCompile(`Test\w+$`)

// keep notes a result, prints it if the mutant was killed, and writes it to the file.
func (b *book) keep(r result) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(r)
	if r.Verdict != "" {
		fmt.Printf("%s: %s: %s\n", r.Mutant, r.Verdict, r.Killer)
	}
	return json.NewEncoder(b.f).Encode(r)
}

// atOnce limits the runs of a lane at the same time: tests wait much.
const atOnce = 3

// try runs a lane with all its mutants that are alive and that it has not passed yet.
func (b *book) try(l lane, mutants []mutant) error {
	var todo []mutant
	for _, m := range mutants {
		name := m.String()
		if l.verdict == suspected && !slices.Contains(tagged, m.pkg) {
			continue
		}
		if b.verdicts[name] == "" && (b.suspects[name] != "") == l.suspects && !b.passed[[2]string{name, l.name}] {
			todo = append(todo, m)
		}
	}
	return b.each(l, l.groups(todo), make(chan struct{}, atOnce))
}

// each sifts several groups.
func (b *book) each(l lane, groups [][]mutant, room chan struct{}) error {
	errs := make([]error, len(groups))
	var all sync.WaitGroup
	for i, group := range groups {
		all.Go(func() { errs[i] = b.sift(l, group, room) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sift runs the lane with all mutants of a group, and if it fails, with each half, until each
// mutant that the lane kills is alone. Two mutants that make up for each other survive together:
// rare among a few hundred.
func (b *book) sift(l lane, group []mutant, room chan struct{}) error {
	room <- struct{}{}
	out, ok, err := l.run(group, b.killer(group[0]))
	<-room
	switch half := len(group) / 2; {
	case err != nil:
		return err
	case ok:
		for _, m := range group {
			err = errors.Join(err, b.keep(result{Mutant: m.String(), Lane: l.name}))
		}
		return err
	case half == 0:
		return b.keep(result{group[0].String(), l.name, l.verdict, l.name + ": " + failure(out)})
	default:
		return b.each(l, [][]mutant{group[:half], group[half:]}, room)
	}
}
