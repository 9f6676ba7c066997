//go:build linux && !scope_off

package faultfs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/trace"
)

// wrapped starts a victim that records 50,000 scopes a second into a ring of 4 MiB, or several
// times as many, and returns when the ring has been overwritten once.
func wrapped(t *testing.T, fs *faultfs.FS, backing string, burst int) *victim.Victim {
	v := victim.Start(t, victim.Config{
		Path: in(fs), Backing: backing, Ring: 4 << 20,
		Workers: 8, Burst: burst, Pause: time.Millisecond, FlushEvery: time.Second,
	})
	v.Until(t, "the ring to be overwritten", func() bool { return v.Ended() > 150_000 })
	return v
}

// pass lets time pass while the victim records.
func pass(t *testing.T, v *victim.Victim, d time.Duration) {
	begin := time.Now()
	v.Until(t, "some time to pass", func() bool { return time.Since(begin) > d })
}

// newest checks that the last scopes of each worker are all in the trace, each once.
func newest(t *testing.T, v *victim.Victim, n uint64) {
	t.Helper()
	tr, err := trace.OpenFile(v.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	there := make([]map[uint64]int, v.Workers)
	for w := range there {
		there[w] = map[uint64]int{}
	}
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindTask && len(e.Args) == 2 && !e.Open {
			there[e.Args[0].Value][e.Args[1].Value]++
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for w := range there {
		missing := 0
		for k := v.LastBy(w); k > 0 && v.LastBy(w)-k < n; k-- {
			if there[w][k-1] != 1 {
				missing++
			}
		}
		if missing > 0 {
			t.Errorf("worker %d: of its last %d scopes %d are not there", w, n, missing)
		}
	}
}

// TestG43 freezes the file system under a ring that has been overwritten. It records on in
// memory: nothing is lost, the newest records are there, and what is not there counts as
// overwritten.
func TestG43(t *testing.T) {
	quiet(t)
	pauses := []time.Duration{time.Second}
	if faultfs.Full() {
		pauses = []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second}
	}
	for _, backing := range backings() {
		if backing == "disk" {
			continue
		}
		for _, burst := range []int{8, 64} {
			for _, pause := range pauses {
				t.Run(fmt.Sprint(backing, " ", burst, " ", pause), func(t *testing.T) {
					fs := faultfs.Ext4(t, 256<<20, "")
					v := wrapped(t, fs, backing, burst)
					fs.Freeze(t, 20*time.Second)
					was, before := v.Ended(), v.Lost() // workers in step can find the first window too small
					pass(t, v, pause)
					meanwhile := v.Ended() - was
					fs.Thaw(t)
					v.Until(t, "recording to go on", func() bool { return v.Ended() > was+meanwhile+10_000 })
					v.Finish(t)
					f := v.Check(t, in(fs))
					if n := v.Result.Stats.Lost; n != before {
						t.Errorf("%v; lost %+v, before the pause %+v", f, n, before)
					}
					newest(t, v, 2000)
					t.Logf("G43: %s: frozen for %v: %d scopes meanwhile, %v", backing, pause, meanwhile, f)
				})
			}
		}
	}
}

// TestG43Killed kills it while its disk is frozen. With the hot file the newest records are all
// there; without, and with the heap backing, the reader says that something is missing, and
// what is there is there once.
func TestG43Killed(t *testing.T) {
	quiet(t)
	for _, backing := range backings() {
		if backing == "disk" {
			continue
		}
		t.Run(backing, func(t *testing.T) {
			fs := faultfs.Ext4(t, 256<<20, "")
			v := wrapped(t, fs, backing, 64)
			fs.Freeze(t, 20*time.Second)
			was := v.Ended()
			v.Until(t, "a ring full of scopes", func() bool { return v.Ended() > was+200_000 })
			if err := unix.Kill(v.PID, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			fs.Thaw(t) // who is in a write can't die before
			if err, _ := v.Died(t); err == nil {
				t.Fatal("the victim ended well")
			}
			hot := v.Hot()
			f := v.Check(t, in(fs))
			if backing == "shm" {
				off := f.Issued - (f.Events - f.Told) - f.Overwritten
				for why, n := range f.Lost {
					if why != format.LossEnd {
						off -= n
					}
				}
				if off < -slackOf(&v.Config) || off > int64(v.Workers) {
					t.Errorf("%v: %d are missing", f, off)
				}
				newest(t, v, 2000)
				if err := os.Remove(hot); err != nil {
					t.Fatal(err)
				}
			}
			if whole(t, in(fs)) {
				t.Error("the trace says that nothing is missing")
			}
			t.Logf("G43: %s, killed while frozen: %v", backing, f)
		})
	}
}

// TestG17Frozen freezes the file system under segments, which need another file now and then.
// What is lost when there is none is lost to the disk, and the trace says that, and what helps:
// not that less should be recorded.
func TestG17Frozen(t *testing.T) {
	quiet(t)
	for _, backing := range backings() {
		if backing == "disk" || backing == "heap" && !faultfs.Full() {
			continue
		}
		t.Run(backing, func(t *testing.T) {
			fs := faultfs.Ext4(t, 256<<20, "")
			v := victim.Start(t, victim.Config{
				Path: in(fs), Backing: backing, Ring: 4 << 20, Segments: true,
				Workers: 8, Burst: 8, Pause: time.Millisecond, FlushEvery: time.Second,
			})
			v.Until(t, "segments to be overwritten", func() bool { return v.Ended() > 150_000 })
			v.Polled(t)
			before := v.Lost()
			fs.Freeze(t, 20*time.Second)
			v.Until(t, "losses", func() bool { return v.Lost().Total() > before.Total()+10_000 })
			fs.Thaw(t)
			n, since := int64(0), v.Ended()
			v.Until(t, "recording to go on", func() bool {
				if lost := v.Lost().Total(); lost != n {
					n, since = lost, v.Ended()
				}
				return v.Ended() > since+20_000
			})
			v.Finish(t)
			f := v.Check(t, in(fs))
			lost := v.Result.Stats.Lost
			// What came before it was known how long the disk takes is lost by window.
			if others := lost.Total() - lost.IO - before.Total(); lost.IO < 9_000 || others > lost.IO/10 {
				t.Errorf("lost %+v, before the pause %+v; want it to be by io", lost, before)
			}
			if !strings.Contains(v.Result.LastErr, "the disk took ") {
				t.Errorf("the last error is %q", v.Result.LastErr)
			}
			if v.Result.StopErr != "" {
				t.Errorf("Stop: %s", v.Result.StopErr)
			}
			tr, err := trace.OpenFile(in(fs))
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			if line := analysis.LossLine(tr); !strings.Contains(line, "or not in time") || !strings.Contains(line, "scope.WithRing, whose one file") || lost.Window == 0 && strings.Contains(line, "record less") {
				t.Errorf("the trace says %q", line)
			}
			t.Logf("G17: %s: frozen under segments: %v, %+v; %s", backing, f, lost, v.Result.LastErr)
		})
	}
}
