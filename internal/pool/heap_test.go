package pool

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestHeapCopies checks that the file has the chunks' contents at the time they were saved, and
// that a dropped chunk's memory is released.
func TestHeapCopies(t *testing.T) {
	f := newFile(t)
	p, err := New(Options{File: f, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	if !p.Heap() || p.Base() != 0 || p.Range() != nil {
		t.Error("a heap pool has addresses")
	}
	for range 4 {
		p.Take()
	}
	for idx := range int64(5) {
		w := p.Words(idx)
		if len(w) != ChunkSize/8 {
			t.Fatalf("chunk %d has %d words", idx, len(w))
		}
		for i := range w {
			w[i] = uint64(idx)<<32 | uint64(i)
		}
	}
	kept := p.Words(2)
	if err := p.Save(1, 3, true); err != nil {
		t.Fatal(err)
	}
	kept[7] = 77 // written after it was saved: dropping copies again
	if err := p.Drop(1, 3); err != nil {
		t.Fatal(err)
	}
	for idx, gone := range []bool{false, true, true, false} {
		if w := p.Words(int64(idx)); (w == nil) != gone {
			t.Errorf("chunk %d is in memory: %t", idx, w != nil)
		}
	}
	if p.Words(-1) != nil || p.Words(1<<40) != nil {
		t.Error("there is memory for chunks that are none")
	}
	if err := p.Save(0, p.Bump(), true); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil || len(b) != 5*ChunkSize {
		t.Fatalf("the file has %d bytes, want %d: %v", len(b), 5*ChunkSize, err)
	}
	for i := range len(b) / 8 {
		idx, at := uint64(i/(ChunkSize/8)), uint64(i%(ChunkSize/8))
		want := idx<<32 | at
		if idx == 2 && at == 7 {
			want = 77
		}
		if idx == 0 && at >= format.ControlOffset/8 && at < format.CountersOffset/8 {
			want = 0 // other tests' goroutines write there
		}
		if got := binary.LittleEndian.Uint64(b[8*i:]); got != want {
			t.Fatalf("word %d of chunk %d is %#x, want %#x", at, idx, got, want)
		}
	}
}

// TestHeapCopiesWhileWritten saves chunks while goroutines write records into them with the start
// stored last: a copy never has a start without the rest. With -race it also checks that this is no
// race.
func TestHeapCopiesWhileWritten(t *testing.T) {
	f := newFile(t)
	p, err := New(Options{File: f, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	idx, _ := p.Take()
	w := p.Words(idx)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for u := g; u < len(w)/4; u += 4 {
				for k := 3; k >= 0; k-- {
					atomic.StoreUint64(&w[4*u+k], uint64(u)<<8|uint64(k)|1<<40)
				}
			}
		})
	}
	b := make([]byte, ChunkSize)
	check := func() (whole int) {
		if err := p.Save(idx, idx+1, false); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(b, idx*ChunkSize); err != nil {
			t.Fatal(err)
		}
		for u := range len(b) / 32 {
			r := b[32*u : 32*u+32]
			if bytes.Equal(r[:8], make([]byte, 8)) {
				continue
			}
			whole++
			for k := range 4 {
				if got, want := binary.LittleEndian.Uint64(r[8*k:]), uint64(u)<<8|uint64(k)|1<<40; got != want {
					t.Fatalf("record %d was copied with word %d %#x, want %#x", u, k, got, want)
				}
			}
		}
		return whole
	}
	for range 50 {
		check()
	}
	wg.Wait()
	if n := check(); n != len(b)/32 {
		t.Errorf("%d records in the last copy, want %d", n, len(b)/32)
	}
}

// TestHeapWriteFails checks that a chunk that could not be written stays in memory for the next
// attempt.
func TestHeapWriteFails(t *testing.T) {
	name := newFile(t).Name()
	readOnly := filetest.Open(t, name)
	p, err := New(Options{File: readOnly, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	p.Take()
	if err := p.Drop(1, 2); err == nil {
		t.Error("a file that can't be written to was written to")
	}
	if p.Words(1) == nil {
		t.Error("the chunk is gone from memory and not in the file")
	}
	if err := p.Close(); err == nil {
		t.Error("a file that can't be cut was cut")
	}
}

// TestHeapIsBounded takes chunks that are never written out: because no goroutine tries, and because
// writing fails.
func TestHeapIsBounded(t *testing.T) {
	readOnly := filetest.Open(t, newFile(t).Name())
	for _, c := range []struct {
		name string
		file *os.File
		try  bool // to write
		want format.Loss
	}{
		{"slow", newFile(t), false, format.LossBuffer},
		{"broken", readOnly, true, format.LossIO},
	} {
		p, err := New(Options{File: c.file, Heap: true})
		if err != nil {
			t.Fatal(err)
		}
		for p.Bump() < 2*maxKept {
			_, why := takeAll(p)
			if c.try {
				p.Drop(1, 2)
			}
			err := p.Extend()
			if p.Bump() > maxKept {
				t.Fatalf("%s: %d chunks in memory, want %d at most", c.name, p.Bump(), maxKept)
			}
			if _, now := p.Take(); now != 0 && now == why {
				if now != c.want || (err != nil) != c.try {
					t.Errorf("%s: lost by %v, want %v: %v", c.name, now, c.want, err)
				}
				break
			}
		}
		if c.try {
			continue
		}
		if err := p.Drop(1, p.Bump()); err != nil {
			t.Fatal(err)
		}
		if err := p.Extend(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, why := p.Take(); why != 0 {
			t.Errorf("%s: lost by %v when all was written", c.name, why)
		}
	}
}

// TestUnchangedIsNotWrittenAgain checks that an idle program's open chunks are written once.
func TestUnchangedIsNotWrittenAgain(t *testing.T) {
	f := newFile(t)
	p, err := New(Options{File: f, Heap: true})
	if err != nil {
		t.Fatal(err)
	}
	idx, _ := p.Take()
	w := p.Words(idx)
	b := make([]byte, 8)
	saved := func(final bool) uint64 {
		t.Helper()
		if _, err := f.WriteAt(make([]byte, 8), idx*ChunkSize); err != nil { // shows whether it is written
			t.Fatal(err)
		}
		if err := p.Save(idx, idx+1, final); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadAt(b, idx*ChunkSize); err != nil {
			t.Fatal(err)
		}
		return binary.LittleEndian.Uint64(b)
	}
	atomic.StoreUint64(&w[0], 1)
	for _, step := range []struct {
		store uint64 // into the chunk's second word
		final bool
		want  uint64
	}{{0, false, 1}, {0, false, 0}, {2, false, 1}, {2, false, 0}, {2, true, 1}, {2, true, 1}} {
		atomic.StoreUint64(&w[1], step.store)
		if got := saved(step.final); got != step.want {
			t.Errorf("%+v: %d", step, got)
		}
	}
}
