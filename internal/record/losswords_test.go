//go:build linux && !scope_off

package record_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	. "github.com/scopeview/scopeview/scope"
)

// held returns options for a recording that does nothing by itself when its flusher is
// stopped.
func held(more ...Option) []Option {
	return append(more, WithHeartbeat(time.Hour), WithFlushEvery(time.Hour))
}

// holdUp stops the flusher.
func holdUp(r *record.Recorder) { (*r.Flusher()).Stop() }

// goOn starts a flusher again, as Stop expects.
func goOn(r *record.Recorder) {
	*r.Flusher() = r.NewFlusher()
	(*r.Flusher()).Start()
}

// fillUntil records until something is lost for a reason.
func fillUntil(t *testing.T, r *record.Recorder, why format.Loss) {
	t.Helper()
	text := strings.Repeat("x", format.MaxString)
	until(t, fmt.Sprintf("a loss by %v", why), func() bool {
		for i := range 500 {
			Task("fill", i, text)()
		}
		return r.Lost()[why] > 0
	})
}

// TestG17Words loses records for each reason there is. Stats counts them by it, and info,
// doctor, tail, serve and a page name that reason, and the remedy.
func TestG17Words(t *testing.T) {
	if sys.Race {
		t.Skip("the race detector makes it slow to fill what may wait")
	}
	forced := map[format.Loss]bool{}
	fillHeld := func(why format.Loss) func(*testing.T, *record.Recorder) {
		return func(t *testing.T, r *record.Recorder) {
			holdUp(r)
			fillUntil(t, r, why)
			goOn(r)
		}
	}
	overflow := func(t *testing.T, r *record.Recorder) {
		for range 2000 {
			Begin("long")
		}
		until(t, "the ring to be overwritten", func() bool {
			for range 500 {
				Task("fill")()
			}
			return r.Lost()[format.LossOpen] > 0
		})
	}
	for _, c := range []struct {
		name string
		why  format.Loss
		opts []Option
		lose func(t *testing.T, r *record.Recorder)
		want string // N stands for the number
		also []format.Loss
	}{
		{"a limit", format.LossLimit, []Option{WithLimit(1 << 20)},
			func(t *testing.T, r *record.Recorder) { fillUntil(t, r, format.LossLimit) },
			"N after the trace had reached its limit (raise scope.WithLimit, keep the last with WithRing, or record less with WithFilter)", nil},
		{"a ring whose flusher has no CPU", format.LossWindow, held(WithRing(MinRing)),
			fillHeld(format.LossWindow),
			"N because no room was prepared for them in time (record less: scope.WithFilter, WithLockThreshold; a larger scope.WithRing takes larger bursts)", nil},
		{"segments whose flusher has no CPU", format.LossWindow, held(WithSegments(MinSegment, 4)),
			fillHeld(format.LossWindow),
			"N because no room was prepared for them in time (record less: scope.WithFilter, WithLockThreshold; larger or more scope.WithSegments take larger bursts)", nil},
		{"a disk whose flusher has no CPU", format.LossWindow, held(WithLimit(NoLimit), WithBacking(DiskBacking)),
			fillHeld(format.LossWindow),
			"N because no room was prepared for them in time (record less: scope.WithFilter, WithLockThreshold; scope.WithBacking(ShmBacking) takes larger bursts)", nil},
		{"a disk that takes nothing", format.LossBuffer, held(WithLimit(NoLimit), WithBuffer(16<<20)),
			fillHeld(format.LossBuffer),
			"N because the trace's buffer (16.0 MiB) was full (enlarge it: scope.WithBuffer; or record less: scope.WithFilter, WithLockThreshold)", nil},
		{"a limit of memory", format.LossSpace, held(WithLimit(NoLimit)),
			func(t *testing.T, r *record.Recorder) {
				holdUp(r)
				r.Pool().Allow(1 << 20)
				goOn(r)
				fillUntil(t, r, format.LossSpace)
				r.Pool().Allow(1 << 40)
			},
			"N while the file system was nearly full, or a quota or a limit of file sizes or of memory nearly reached (Stats.LastError says which; make room, or keep less: scope.WithRing, WithLimit)", nil},
		{"a full /dev/shm", format.LossSpace, held(WithLimit(NoLimit), WithBacking(ShmBacking)),
			fillHeld(format.LossSpace),
			"N while the file system was nearly full, or a quota or a limit of file sizes or of memory nearly reached (Stats.LastError says which; make room, or keep less: scope.WithRing, WithLimit)", nil},
		{"a file that can't be written", format.LossIO, []Option{WithLimit(NoLimit), WithBuffer(16 << 20), shortTicks()}, writeProtected,
			"N because the file could not be written, or not in time, or its memory not be mapped (Stats.LastError says why)", []format.Loss{format.LossBuffer}},
		{"a stop that has begun", format.LossStop, nil,
			func(t *testing.T, r *record.Recorder) {
				r.Pool().ShutRecords()
				fillUntil(t, r, format.LossStop)
			},
			"N begun while the recording stopped", nil},
		{"ends without a place", format.LossEnd, []Option{WithLimit(1 << 20), shortTicks()},
			func(t *testing.T, r *record.Recorder) {
				s := Begin("long")
				fillUntil(t, r, format.LossLimit)
				until(t, "its chunk to leave, and no room for its end", func() bool {
					for range 5000 {
						Task("small")()
					}
					return r.Pool().State(r.Offset(handleOf(s))/format.ChunkSize) == pool.Gone
				})
				s.End()
			},
			"N were ends without room in the trace: their scopes show as open", []format.Loss{format.LossLimit}},
		{"stacks at full speed", format.LossStack, nil,
			func(t *testing.T, r *record.Recorder) {
				Stack("stack", 1)   // records its name
				r.BlocksMu().Lock() // blocks the goroutine that counts them
				defer r.BlocksMu().Unlock()
				until(t, "a lost stack", func() bool {
					for range 10_000 {
						Stack("stack", 1)
					}
					return r.Lost()[format.LossStack] > 0
				})
			},
			"N were stacks that came faster than they could be counted (call scope.Stack less often, with the sum as weight)", nil},
		{"more open scopes than a ring keeps", format.LossOpen, []Option{WithRing(MinRing), shortTicks()}, overflow,
			"N were open when the ring overwrote where they begin, more than it keeps: they are missing, or their ends have no name (a larger scope.WithRing keeps more)", nil},
		{"more open scopes than segments keep", format.LossOpen, []Option{WithSegments(MinSegment, 4), shortTicks()}, overflow,
			"N were open when the ring overwrote where they begin, more than it keeps: they are missing, or their ends have no name (larger or more scope.WithSegments keep more)", nil},
		// No test can make a goroutine move 64 times at that instruction.
		{"a goroutine that is moved", format.LossBusy, nil,
			func(t *testing.T, r *record.Recorder) { r.LoseMany(format.LossBusy, 7) },
			"N because their goroutine was moved to another processor at each attempt", nil},
	} {
		forced[c.why] = true
		t.Run(c.name, func(t *testing.T) {
			if small := c.name == "a full /dev/shm"; (small || c.name == "a disk whose flusher has no CPU") && !record.HaveDisk {
				t.Skip("this build maps nothing: " + record.NoDisk)
			} else if small {
				was := hot.Dir
				t.Cleanup(func() { hot.Dir = was })
				hot.Dir = faultfs.Tmpfs(t, 64<<20).Dir
			}
			start(t, c.opts...)
			r := record.Current.Load()
			if c.why == format.LossBuffer && r.Pool().Backing() == format.BackingDisk {
				t.Skip("the disk backing has no buffer")
			}
			if c.why == format.LossSpace && wantPath == format.PathPure {
				t.Skip("the pure path takes half a minute to fill what memory allows")
			}
			Task("first")()
			c.lose(t, r)
			_ = Stop() // it reports that the disk failed
			lost := r.Lost()
			for why, n := range lost {
				if n > 0 && format.Loss(why) != c.why && !slices.Contains(c.also, format.Loss(why)) {
					t.Errorf("%d are lost by %v, which it was not", n, format.Loss(why))
				}
			}
			tr := tracetest.OpenFile(t, Path())
			want := strings.Replace(c.want, "N", show.Count(lost[c.why]), 1)
			inContainer := strings.NewReplacer("(up to ", "(", ", or the limit of memory, which bounds it", "")
			if line := inContainer.Replace(analysis.LossLine(tr)); lost[c.why] == 0 || !strings.Contains(line, want) {
				t.Errorf("the trace says %q\nwant %q", line, want)
			}
		})
	}
	for why := format.LossWindow; why < format.LossReasons; why++ {
		if !forced[why] {
			t.Errorf("%v is forced by nobody", why)
		}
	}
}

// writeProtected prevents writes to the trace's file until the buffer is full.
func writeProtected(t *testing.T, r *record.Recorder) {
	fd := int(r.File().Fd())
	own, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(own)
	readOnly, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer readOnly.Close()
	if err := unix.Dup3(int(readOnly.Fd()), fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	fillUntil(t, r, format.LossIO)
	if err := unix.Dup3(own, fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
}
