//go:build linux && !scope_off

package faultfs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/scope"
)

// steady are victims that record some hundred thousand scopes a second, and whose
// collector runs all the time.
func steady(path, backing string) victim.Config {
	return victim.Config{
		Path: path, Backing: backing, Limit: scope.NoLimit,
		Workers: 8, Burst: 64, Pause: time.Millisecond, Timed: true, Collect: true,
		FlushEvery: time.Second,
	}
}

// TestG8 freezes the file system of a program that records, as snapshots of virtual
// machines do, and thaws it. On the copying backings no goroutine waits for it. On disk
// a goroutine waits that stores into a page that was written out, and the collector waits
// for it: for that backing the test only asserts that everything continues afterwards.
func TestG8(t *testing.T) {
	quiet(t)
	freeze := time.Second
	if faultfs.Full() {
		freeze = 3 * time.Second
	}
	table := []string{fmt.Sprintf("frozen for %v: backing, calls, p50, p99, p99.9, worst call, longest GC pause, longest GC, longest without a turn, lost", freeze)}
	perBacking(t, func(t *testing.T, backing string) {
		fs := faultfs.Ext4(t, 256<<20, "")
		c := steady(in(fs), backing)
		// More than there are workers, so that a P is free when all of them wait.
		c.Env = []string{"GOMAXPROCS=12"}
		v := victim.Start(t, c)
		v.Until(t, "a recording", func() bool { _, n := v.Pause(); return v.Ended() > 50_000 && n > 10 })

		before := look(v)
		begin := time.Now()
		v.Until(t, "some time to pass", func() bool { return time.Since(begin) > freeze })
		calls, _, worst, pause := before.end()
		var nothing *victim.Histogram
		calm := fmt.Sprintf("%v, worst %v, longest GC pause %v", calls, worst, pause)

		frozen := look(v)
		fs.Freeze(t, 20*time.Second)
		begin = time.Now()
		v.Until(t, "some time to pass", func() bool { return time.Since(begin) > freeze })
		fs.Thaw(t)
		// Calls that waited must be counted too: until one of each kind has returned.
		_, collections := v.Pause()
		ended := v.Ended()
		v.Until(t, "everything to go on", func() bool {
			_, n := v.Pause()
			return n > collections+2 && v.Ended() > ended+10_000
		})
		calls, nothing, worst, pause = frozen.end()
		stall, collection := v.Stall(), v.Collection()

		recorded := v.Recorded()
		v.Until(t, "recording to resume", func() bool { return v.Recorded() > recorded+10_000 })
		v.Finish(t)
		f := v.Check(t, in(fs))
		lost := v.Result.Stats.Lost.Total()
		if backing == "shm" {
			frozen.quick(t, "while the file system is frozen", calls, nothing)
		}
		// Some milliseconds on a machine that does nothing else.
		if limit := freeze / 2; backing != "disk" && max(pause, stall, worst) > limit {
			t.Errorf("while the file system was frozen for %v the longest GC pause was %v, the longest time without a turn %v, the longest call %v", freeze, pause, stall, worst)
		}
		table = append(table, fmt.Sprintf("%s, %d, %v, %v, %v, %v, %v, %v, %v, %d", backing, calls.N(), calls.At(.5), calls.At(.99), calls.At(.999), worst, pause, collection, stall, lost))
		where := backing
		if backing == "disk" {
			where = "not given: disk"
		}
		t.Logf("G8: %s: frozen for %v: %v; calls %v, worst %v, longest GC pause %v, longest GC %v, longest without a turn %v; nothing: %v; before: %s",
			where, freeze, f, calls, worst, pause, collection, stall, nothing, calm)
	})
	t.Log(strings.Join(table, "\n"))
}

// TestG8Burst freezes it until the memory for waiting chunks is full: later records are lost
// and counted, no goroutine waits for that either, and after the thaw everything continues.
func TestG8Burst(t *testing.T) {
	quiet(t)
	perBacking(t, func(t *testing.T, backing string) {
		if backing == "disk" || backing == "heap" && !faultfs.Full() {
			return
		}
		fs := faultfs.Ext4(t, 1<<30, "")
		v := victim.Start(t, busy(in(fs), backing))
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		w := look(v)
		fs.Freeze(t, 20*time.Second)
		begin := time.Now()
		v.Until(t, "losses", func() bool { return v.Lost().Total() > 10_000 })
		filled := time.Since(begin)
		calls, nothing, worst, pause := w.end()
		fs.Thaw(t)
		recorded := v.Recorded()
		v.Until(t, "recording to resume", func() bool { return v.Recorded() > recorded+100_000 })
		v.Finish(t)
		f := v.Check(t, in(fs))
		if backing == "shm" {
			w.quick(t, "while the file system is frozen and memory is full", calls, nothing)
		}
		t.Logf("G8: %s: frozen until memory was full, after %v: %v; calls %v, worst %v, longest GC pause %v",
			backing, filled.Round(time.Millisecond), f, calls, worst, pause)
	})
}

// TestG9 records onto a device that is slower than what is written.
func TestG9(t *testing.T) {
	quiet(t)
	runs := time.Second
	if faultfs.Full() {
		runs = 5 * time.Second
	}
	perBacking(t, func(t *testing.T, backing string) {
		fs := faultfs.Ext4(t, 1<<30, "")
		fs.Throttle(t, 1<<20)
		v := victim.Start(t, steady(in(fs), backing))
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		w := look(v)
		begin, was := time.Now(), v.Begun()
		v.Until(t, "some time to pass", func() bool { return time.Since(begin) > runs })
		rate := float64(v.Begun()-was) / time.Since(begin).Seconds()
		calls, nothing, worst, pause := w.end()
		// The trace is to be read; what waits to be written is not what is asked for.
		fs.Throttle(t, 0)
		v.Finish(t)
		f := v.Check(t, in(fs))
		if backing == "shm" {
			w.quick(t, "while the device is slow", calls, nothing)
		}
		t.Logf("G9: %s: at %.0f scopes (%.1f MB) a second, the device takes 1 MB: %v; calls %v, worst %v, longest GC pause %v; Stop took %v",
			backing, rate, rate*64/1e6, f, calls, worst, pause, v.Result.Stopped.Round(time.Millisecond))
	})
}
