//go:build linux && !scope_off

package faultfs_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
)

// TestG4 removes the disk of a program that records: from then on every call returns
// EIO. Every record is kept in memory or counted as lost; the file's part of the former
// can't be read.
func TestG4(t *testing.T) {
	quiet(t)
	perBacking(t, func(t *testing.T, backing string) {
		fs := faultfs.Ext4(t, 256<<20, "")
		v := victim.Start(t, busy(in(fs), backing))
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		fs.Shutdown(t, faultfs.PowerCut)
		w := look(v)
		v.Until(t, "losses", func() bool { return v.Lost().IO > 10_000 })
		calls, nothing, worst, pause := w.end()
		r := v.Finish(t)
		s := r.Stats
		if s.Recorded+s.Lost.Total() != int64(v.Begun()) {
			t.Errorf("%d issued, %d recorded, lost %+v", v.Begun(), s.Recorded, s.Lost)
		}
		if !strings.Contains(r.LastErr, unix.EIO.Error()) {
			t.Errorf("Stats has %q, want that of EIO", r.LastErr)
		}
		w.quick(t, "while the disk is gone", calls, nothing)
		t.Logf("G4: %s: EIO after some scopes: %d issued, %d taken, lost by I/O %d; calls %v, worst %v, longest GC pause %v; exit 0",
			backing, v.Begun(), s.Recorded, s.Lost.IO, calls, worst, pause)
	})
}

// TestG4WrittenOut takes the disk away at the moment when all has just been written
// out. On disk every page is write-protected then, and the next store into each asks
// the file system, which could answer with a signal: it does not, because the page has
// its block.
func TestG4WrittenOut(t *testing.T) {
	quiet(t)
	perBacking(t, func(t *testing.T, backing string) {
		if backing != "disk" && !faultfs.Full() {
			return // as at any other moment
		}
		fs := faultfs.Ext4(t, 256<<20, "")
		v := victim.Start(t, busy(in(fs), backing))
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		fs.Shutdown(t, faultfs.FlushFirst)
		v.Until(t, "losses", func() bool { return v.Lost().IO > 1000 })
		r := v.Finish(t)
		if s := r.Stats; s.Recorded+s.Lost.Total() != int64(v.Begun()) {
			t.Errorf("%d issued, %d recorded, lost %+v", v.Begun(), s.Recorded, s.Lost)
		}
		t.Logf("G4: %s: EIO just after write-back: %d issued, lost by I/O %d; exit 0", backing, v.Begun(), r.Stats.Lost.IO)
	})
}

// TestG4Thin has a disk that promises more space than its storage has: writing out fails,
// while its file system reports free space. Which accepted data was lost is unknown: the
// kernel reports at best the last error.
func TestG4Thin(t *testing.T) {
	quiet(t)
	perBacking(t, func(t *testing.T, backing string) {
		under := faultfs.Tmpfs(t, 64<<20)
		fs := faultfs.Ext4In(t, under.Dir, 256<<20, "")
		v := victim.Start(t, busy(in(fs), backing))
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		under.Fill(t)
		issued := v.Begun()
		v.Until(t, "much more", func() bool { return v.Begun() > issued+1_000_000 })
		r := v.Finish(t)
		s := r.Stats
		if s.Recorded+s.Lost.Total() != int64(v.Begun()) {
			t.Errorf("%d issued, %d recorded, lost %+v", v.Begun(), s.Recorded, s.Lost)
		}
		t.Logf("G4: %s: the device under the file system full: %d issued, %d taken, %d lost, last error %q; exit 0", backing, v.Begun(), s.Recorded, s.Lost.Total(), r.LastErr)
	})
}
