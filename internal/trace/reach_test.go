package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestWithin checks that any range has the events that begin in it, whatever was read before.
func TestWithin(t *testing.T) {
	data := map[string][]byte{"bulk": tracetest.Bulk(8, true)}
	for _, g := range goldens(t) {
		if g.success() {
			data[g.name] = g.bytes(t)
		}
	}
	for i, b := range small(t) {
		data[fmt.Sprint("small ", i)] = b
	}
	for seed := range uint64(4) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
		w := newRingWriter(seed, 20)
		for range 40_000 {
			w.step()
		}
		data[fmt.Sprint("ring ", seed)] = w.image[:w.size]
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for name, b := range data {
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(name, err)
		}
		type begun struct {
			start int64
			line  string
		}
		list := func(o trace.Options) (list []begun) {
			err := tr.Events(o, func(e *trace.Event) bool {
				start := e.Start
				e.Depth, e.Track = 0, 0
				list = append(list, begun{start, string(appendEvent(nil, tr, e))})
				return true
			})
			if err != nil {
				t.Fatal(name, err)
			}
			return list
		}
		again := tracetest.Open(t, b)
		tr, again = again, tr
		all := list(trace.Options{})
		tr = again // on which no run has finished a chunk yet
		for range 30 {
			from, to := rnd.Int64N(tr.End()+2)-1, rnd.Int64N(tr.End()+2)+1
			if len(all) > 0 && rnd.IntN(2) == 0 {
				from = all[rnd.IntN(len(all))].start
				to = from + rnd.Int64N(1000)
			}
			got := list(trace.Options{From: from, To: to, Within: true})
			var want []begun
			for _, e := range all {
				if e.start >= from && (to <= 0 || e.start <= to) {
					want = append(want, e)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s from %d to %d: %d events\n%v\nwant %d\n%v", name, from, to, len(got), got, len(want), want)
			}
		}
	}
}

// counting counts the bytes read.
type counting struct {
	io.ReaderAt
	n atomic.Int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ReaderAt.ReadAt(p, off)
}

// TestWithinReads checks that only chunks that can have events of the range are read, once a run
// knows these.
func TestWithinReads(t *testing.T) {
	b := tracetest.Bulk(400, false)
	r := &counting{ReaderAt: bytes.NewReader(b)}
	tr, err := trace.Open(r, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(o trace.Options) (n, bytes int64) {
		before := r.n.Load()
		err := tr.Events(o, func(*trace.Event) bool { n++; return true })
		if err != nil {
			t.Fatal(err)
		}
		return n, r.n.Load() - before
	}
	middle := trace.Options{From: tr.End() / 2, To: tr.End()/2 + 1000, Within: true}
	n, before := read(middle)
	if all, _ := read(trace.Options{}); n == 0 || n > all/100 {
		t.Errorf("%d events of %d", n, all)
	}
	again, after := read(middle)
	if again != n || after > 12*64<<10 {
		t.Errorf("%d events in %d bytes; at first %d in %d", again, after, n, before)
	}
}
