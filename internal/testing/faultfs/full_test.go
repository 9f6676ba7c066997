//go:build linux && !scope_off

package faultfs_test

import (
	"errors"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/scope"
)

// TestG1 starts where there is no room: an error at once, nothing left behind, and
// the program goes on without a recording.
func TestG1(t *testing.T) {
	for _, fs := range fileSystems {
		t.Run(fs.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing string) {
				dir := fs.make(t, 16<<20)
				dir.Fill(t)
				before, _ := dir.Free(t)
				begin := time.Now()
				err := scope.Start(in(dir), scope.WithBacking(victim.Backings()[backing]))
				took := time.Since(begin)
				if err == nil {
					scope.Stop()
				}
				if !errors.Is(err, scope.ErrNoSpace) {
					t.Errorf("Start: %v, want ErrNoSpace", err)
				}
				if took > 100*time.Millisecond && faultfs.Full() {
					t.Errorf("Start took %v", took)
				}
				if after, _ := dir.Free(t); after != before || len(ls(t, dir.Dir)) != 0 {
					t.Errorf("%d bytes were free and are %d; %q is left", before, after, ls(t, dir.Dir))
				}
				for range 1000 {
					scope.Task("not recorded")()
				}
				if scope.Enabled() || scope.Stats().Running {
					t.Error("a recording runs")
				}
				t.Logf("G1: %s on a full %s: %v after %.1f ms, 0 bytes held", backing, fs.name, scope.ErrNoSpace, took.Seconds()*1000)
			})
		})
	}
}

// full fills a victim's file system, and returns when it loses records.
func full(t *testing.T, v *victim.Victim, fs *faultfs.FS) window {
	t.Helper()
	v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
	fs.Fill(t)
	v.Until(t, "losses", func() bool { return v.Lost().Space > 0 })
	return look(v)
}

// TestG2 fills the disk to its last block while a program records, and lets the
// program end.
func TestG2(t *testing.T) {
	quiet(t)
	perFS(t, func(t *testing.T, fs *faultfs.FS, backing string) {
		v := victim.Start(t, busy(in(fs), backing))
		w := full(t, v, fs)
		lost, issued := v.Lost().Space, v.Begun()
		v.Until(t, "more losses", func() bool { return v.Lost().Space > lost+10_000 && v.Begun() > issued+20_000 })
		calls, nothing, worst, pause := w.end()
		r := v.Finish(t)
		f := v.Check(t, in(fs))
		if r.LastErr == "" {
			t.Error("Stats has no error")
		}
		w.quick(t, "while the disk is full", calls, nothing)
		t.Logf("G2: %s on %s: %v; full for %d calls: %v, worst %v, longest GC pause %v; exit 0",
			backing, fs.Kind, f, calls.N(), calls, worst, pause)
	})
}

// TestG3 fills the disk and makes room again, some times: recording resumes within
// two ticks, and the trace has the gaps with their times.
func TestG3(t *testing.T) {
	quiet(t)
	perFS(t, func(t *testing.T, fs *faultfs.FS, backing string) {
		c := busy(in(fs), backing)
		c.FlushEvery = time.Second // the default: two of them must be enough
		v := victim.Start(t, c)
		times := 1
		if faultfs.Full() && backing == "disk" {
			times = 3 // the others write so much before they lose anything that the disk is soon full of it
		}
		var slowest, longest time.Duration
		for range times {
			full(t, v, fs)
			lost := v.Lost().Space
			v.Until(t, "more losses", func() bool { return v.Lost().Space > lost+1000 })
			v.Polled(t)
			recorded := v.Recorded()
			fs.Empty(t)
			begin := time.Now()
			v.Until(t, "recording to resume", func() bool { return v.Recorded() > recorded+1000 })
			slowest = max(slowest, time.Since(begin))
			// A gap is written at a tick without a loss.
			lost, begin = v.Lost().Total(), time.Now()
			v.Until(t, "two ticks without losses", func() bool {
				if n := v.Lost().Total(); n != lost {
					lost, begin = n, time.Now()
				}
				return times == 1 || time.Since(begin) > 2*c.FlushEvery
			})
		}
		v.Finish(t)
		f := v.Check(t, in(fs))
		gaps := 0
		for _, g := range f.Gaps {
			if g.Reason == format.LossSpace {
				gaps++
				longest = max(longest, time.Duration(g.To-g.From))
			}
		}
		if slowest > 2*c.FlushEvery && !sys.Race {
			t.Errorf("recording resumed after %v", slowest)
		}
		if gaps < times || longest == 0 {
			t.Errorf("%d gaps by space, the longest is %v", gaps, longest)
		}
		t.Logf("G3: %s on %s: %v; full %d times, %d gaps recorded, the longest %.2f s; resumed after at most %.2f s, a tick is 1 s",
			backing, fs.Kind, f, times, gaps, longest.Seconds(), slowest.Seconds())
	})
}
