package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// contest is a running session: the two builds of a round.
type contest struct {
	*session
	runners [2]*runner
	cpus    []int
}

// session runs the two builds once, and adds the times of each row.
func (b *bench) session(s *session, builds [2]string, results []comparison) (err error) {
	c := contest{session: s, cpus: b.cpus}
	for i, bin := range builds {
		if c.runners[i], err = b.startRunner(bin); err != nil {
			return err
		}
		defer c.runners[i].close()
	}
	if s.record {
		for _, r := range c.runners {
			if _, err := r.ask(command{Do: "record", Dir: r.dir, Filter: s.filter}); err != nil {
				return err
			}
		}
	}
	if err := c.warm(); err != nil {
		return err
	}
	issued := int64(0)
	round := make([]observation, len(s.rows))
	for _, i := range rand.Perm(len(s.rows)) {
		for range s.plan.slices {
			ns, err := c.pair(&s.rows[i])
			if err != nil {
				return err
			}
			round[i].add(ns)
		}
		issued += s.rows[i].perLoop * int64(s.plan.slices*s.plan.size)
	}
	lossy, fault := false, ""
	if s.record {
		var stopped [2]reply
		for i, r := range c.runners {
			if stopped[i], err = r.ask(command{Do: "stop"}); err != nil {
				return err
			}
		}
		lossy, fault = unlike(&stopped, issued)
	}
	for i := range results {
		switch {
		case fault != "":
			results[i].fault = fault
		case lossy:
			results[i].lossy++
		default:
			results[i].observe(&round[i])
		}
	}
	return nil
}

// pair runs a slice of both, in random order and on a random CPU.
func (c *contest) pair(row *comparedRow) (ns [2]float64, err error) {
	cpu := -1
	if !row.free {
		cpu = c.cpus[rand.IntN(len(c.cpus))]
	}
	first := rand.IntN(2)
	for _, i := range []int{first, 1 - first} {
		a, e := c.runners[i].ask(command{Do: "run", Row: row.loop, N: c.plan.size, CPU: cpu})
		time.Sleep(c.plan.settle)
		ns[i], err = float64(a.NS)/float64(c.plan.size), errors.Join(err, e)
	}
	return ns, err
}

// warm runs all rows until the recorders are warm, like bench.warm; records count from then
// on.
func (c *contest) warm() error {
	for begin := time.Now(); time.Since(begin) < time.Second; {
		for i := range c.rows {
			if _, err := c.pair(&c.rows[i]); err != nil {
				return err
			}
		}
	}
	for _, r := range c.runners {
		if _, err := r.ask(command{Do: "count"}); err != nil {
			return err
		}
	}
	return nil
}

// unlike returns why two recordings are not comparable: different paths, or missing records.
// lossy means that this round is not comparable because one of them lost scopes: a lost
// scope is fast. A few lost scopes, on a shared machine, do not change a median.
func unlike(a *[2]reply, issued int64) (lossy bool, fault string) {
	for i, which := range []string{"old", "new"} {
		if a[i].Recorded+a[i].Lost != issued {
			return false, which + ": " + tally{recorded: a[i].Recorded, lost: a[i].Lost}.kept(issued)
		}
		lossy = lossy || a[i].Lost > issued/1000
	}
	if path(a[0].Recorder) != path(a[1].Recorder) {
		return false, fmt.Sprintf("old: %s; new: %s", a[0].Recorder, a[1].Recorder)
	}
	return lossy, ""
}

// path returns the first word of the recorder's description.
func path(recorder string) string {
	word, _, _ := strings.Cut(recorder, " ")
	return word
}
