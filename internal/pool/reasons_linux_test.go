package pool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// TestNoNumbers checks that a trace with all the chunks there can be, and no limit, or a larger
// one, is full. It has not reached a limit that a user could raise.
func TestNoNumbers(t *testing.T) {
	const numbers = 200
	for _, heap := range []bool{true, false} {
		for _, limit := range []int64{0, numbers * ChunkSize, 2 * numbers * ChunkSize} {
			t.Run(fmt.Sprint(heap, limit), func(t *testing.T) {
				want := format.LossSpace
				if limit == numbers*ChunkSize { // the contrasting case
					want = format.LossLimit
				}
				p, err := New(Options{File: newFile(t), Limit: limit, Heap: heap, Addresses: numbers * ChunkSize, States: make([]uint32, numbers)})
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				var why format.Loss
				taken := 0
				for range 10 {
					got, lost := takeAll(p)
					taken, why, err = taken+len(got), lost, p.Extend()
				}
				if why != want || errors.Is(err, errNumbers) != (want == format.LossSpace) {
					t.Errorf("%d chunks, then lost by %v, want %v: %v", taken, why, want, err)
				}
				if taken < numbers-1-keepForBlocks-int(p.spare) {
					t.Errorf("%d chunks of %d", taken, numbers)
				}
			})
		}
	}
}

// lateDisk is a file system that makes no room while the gate is shut.
type lateDisk struct {
	backing
	gate chan struct{}
}

func (l *lateDisk) grow(at, n int64) error {
	<-l.gate
	return l.backing.grow(at, n)
}

// TestLateDisk checks the reasons: records that find no room while the disk makes none are lost to
// the disk. Those that find none because no goroutine has called the disk are not.
func TestLateDisk(t *testing.T) {
	f := createIn(t, t.TempDir(), "t.scope")
	reported := make(chan error, 10)
	files := NewSegments(f, f.Name(), [16]byte{7}, 1<<20, 16, func(int) {}, func(err error) { reported <- err })
	p, err := New(Options{File: f, Ring: RingOf(16<<20, nil), Files: files})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	l := &lateDisk{p.back, make(chan struct{})}
	p.back = l
	if _, why := takeAll(p); why != format.LossWindow {
		t.Fatalf("nothing left because of %v", why)
	}
	extended := make(chan error)
	go func() { extended <- p.Extend() }()
	for end := time.Now().Add(10 * time.Second); p.Dry() != format.LossIO; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("while the disk makes no room it is lost by %v", p.Dry())
		}
	}
	if _, why := p.Take(); why != format.LossIO {
		t.Errorf("lost by %v, want io", why)
	}
	close(l.gate)
	if err := <-extended; err != nil {
		t.Errorf("that a disk is late is no error: %v", err)
	}
	if len(reported) != 1 {
		t.Errorf("%d errors were reported, want 1", len(reported))
	}
	if _, why := p.Take(); why != 0 || p.Full() != 0 {
		t.Errorf("with room again lost by %v, full by %v", why, p.Full())
	}
	if _, why := takeAll(p); why != format.LossWindow {
		t.Errorf("and then lost by %v", why)
	}
}

// TestSegmentsKeepForShm checks that a full /dev/shm deletes no segment: that makes no room there.
func TestSegmentsKeepForShm(t *testing.T) {
	dir, dropped := faultfs.Tmpfs(t, 16<<20).Dir, 0
	f := createIn(t, t.TempDir(), "t.scope")
	hot := hotFile(t, dir, 1024)
	o := Options{File: f, Hot: hot, HotSlots: 1024, Ring: RingOf(64<<20, func([]int64) { dropped++ })}
	o.Files = NewSegments(f, f.Name(), [16]byte{7}, 1<<20, 64, func(int) {}, func(error) {})
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := p.lay.(*segments)
	for n := range uint64(100) { // some segments, all of which could be deleted
		idx := next(t, p)
		fill(t, p, idx, n)
		p.Fresh(nil)
		leave(t, p, idx)
	}
	filler := createIn(t, dir, "filler")
	if err := unix.Fallocate(int(filler.Fd()), 0, 0, available(t, dir)&^4095); err != nil {
		t.Fatal(err)
	}
	var why format.Loss
	for range 5 {
		_, why = takeAll(p)
		err = p.Extend()
	}
	if why != format.LossSpace || !errors.Is(err, errShm) {
		t.Errorf("lost by %v: %v", why, err)
	}
	files, _ := filepath.Glob(f.Name() + ".0*")
	if dropped > 0 || len(files) != s.files || len(files) < 7 {
		t.Errorf("%d times something was overwritten, %d files, %d known", dropped, len(files), s.files)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	filler.Close()
	if err := p.Extend(); err != nil && !errors.Is(err, errShm) { // there is less room than the window needs
		t.Error(err)
	}
	if _, why := p.Take(); why != 0 {
		t.Errorf("with room again lost by %v", why)
	}
}

// TestSegmentsBehind checks that chunks waiting for the disk fill the allowed memory, or the
// largest number of segments.
func TestSegmentsBehind(t *testing.T) {
	for _, bytes := range []int64{16 << 20, 1 << 20} {
		f := createIn(t, t.TempDir(), "t.scope")
		files := NewSegments(f, f.Name(), [16]byte{7}, bytes, 4, func(int) {}, func(error) {})
		p, err := New(Options{File: f, Heap: true, Ring: RingOf(4*bytes, nil), Files: files})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		taken := 0
		for more := true; more; { // no goroutine writes them out
			if err := p.Extend(); err != nil {
				t.Fatal(err)
			}
			got, why := takeAll(p)
			taken, more = taken+len(got), len(got) > 0
			if !more && why != format.LossBuffer {
				t.Errorf("segments of %d bytes: after %d chunks lost by %v, want %v", bytes, taken, why, format.LossBuffer)
			}
		}
	}
}
