//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// toll has the results of the killed writers.
type toll struct {
	mu     sync.Mutex
	number int // number of started ones
	checked
}

func (t *toll) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("%d killed", t.traces)
}

// next returns the number of the next one to kill, and whether it writes at full speed.
func (t *toll) next() (n int, full bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.number++
	return t.number, t.number%2 == 0
}

// The limits of a writer's lifetime, once it records.
const (
	leastLife = 200 * time.Millisecond
	mostLife  = 5 * time.Second
)

// killOne starts a writer, kills it at a random time, and checks its trace. It returns
// early, without a check, when ctx ends before that time.
func (s *soak) killOne(ctx context.Context, t *toll) {
	n, full := t.next()
	rate, every := s.rate, uint64(4)
	if full {
		rate, every = 0, 64
	}
	dir := filepath.Join(s.dir, fmt.Sprint("kill", n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.fail("no directory for the one to be killed: %v", err)
		return
	}
	defer os.RemoveAll(dir)
	c, err := startWriter(filepath.Join(dir, "killed.scope"), s.killRing, rate, every)
	if err != nil {
		s.fail("the one to be killed: %v", err)
		return
	}
	defer c.close()
	// A short soak must kill several.
	life := leastLife + rand.N(max(min(mostLife, s.span/8)-leastLife, leastLife))
	select {
	case <-ctx.Done():
		c.kill()
		return
	case <-c.ended:
		s.fail("one to be killed ended by itself: %v: %s", c.err, c.last())
		return
	case <-time.After(life):
	}
	c.kill()
	var sum checked
	s.whole(c, false, &sum)
	if d, err := look(c.path); err != nil {
		s.fail("the file of one that was killed: %v", err)
	} else if taken := max(d.blocks, d.size); taken > d.bound(s.killRing) {
		s.fail("the file of one that was killed takes %d bytes, at most %d are promised", taken, d.bound(s.killRing))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(&sum)
}

func (t *toll) summary(w io.Writer, wanted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !wanted {
		return
	}
	fmt.Fprintf(w, "killed: %d writers, every other one at full speed\n  their traces: %s\n", t.traces, &t.checked)
}
