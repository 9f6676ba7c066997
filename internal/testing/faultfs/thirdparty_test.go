//go:build linux && !scope_off

package faultfs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestG5 truncates the trace of a program that records, as no tool of ours ever does.
// The copying backings go on. On disk the kernel kills the program, which no library
// in pure Go can prevent: docs/guarantees.md excludes that, and here it is
// checked that it says so rightly.
func TestG5(t *testing.T) {
	perBacking(t, func(t *testing.T, backing string) {
		path := filepath.Join(t.TempDir(), "t.scope")
		v := victim.Start(t, victim.Config{Path: path, Backing: backing})
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if backing == "disk" {
			err, says := v.Died(t)
			if err == nil || !strings.Contains(says, "SIGBUS") && !strings.Contains(says, "fault") {
				t.Errorf("the victim ended with %v: %s", err, says)
			}
			first, _, _ := strings.Cut(says, "\n")
			t.Logf("G5: not given: disk: truncated after %d scopes, and the program died: %v, %q", v.Ended(), err, first)
			return
		}
		issued := v.Begun()
		v.Until(t, "the recording to go on", func() bool { return v.Begun() > issued+50_000 })
		r := v.Finish(t)
		if s := r.Stats; s.Recorded+s.Lost.Total() != int64(v.Begun()) {
			t.Errorf("%d issued, %d recorded, lost %+v", v.Begun(), s.Recorded, s.Lost)
		}
		// The records that had been written before are gone, and can't be counted.
		tr := tracetest.OpenFile(t, path)
		n := 0
		if err := tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return true }); err != nil {
			t.Error(err)
		}
		if n == 0 || !tr.Closed() {
			t.Errorf("%d records are there, the trace is closed: %t", n, tr.Closed())
		}
		t.Logf("G5: %s: truncated after %d scopes of %d; exit 0, the trace has the %d that came after or were in memory", backing, issued, v.Begun(), n)
	})
}

// TestG5Replaced moves another file over the trace: the recording continues in its file,
// which has no name any more, and does not touch the other one.
func TestG5Replaced(t *testing.T) {
	perBacking(t, func(t *testing.T, backing string) {
		dir := t.TempDir()
		path, other := filepath.Join(dir, "t.scope"), filepath.Join(dir, "other")
		v := victim.Start(t, victim.Config{Path: path, Backing: backing})
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		if err := os.Link(path, filepath.Join(dir, "kept")); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, other, []byte("not a trace"))
		if err := os.Rename(other, path); err != nil {
			t.Fatal(err)
		}
		issued := v.Begun()
		v.Until(t, "the recording to go on", func() bool { return v.Begun() > issued+10_000 })
		v.Finish(t)
		f := v.Check(t, filepath.Join(dir, "kept"))
		if b, err := os.ReadFile(path); err != nil || string(b) != "not a trace" {
			t.Errorf("the other file has %d bytes: %v", len(b), err)
		}
		t.Logf("G5: %s: replaced after %d scopes: %v", backing, issued, f)
	})
}

// TestG6 removes the trace of a program that records. It notices nothing.
func TestG6(t *testing.T) {
	perBacking(t, func(t *testing.T, backing string) {
		dir := t.TempDir()
		path, kept := filepath.Join(dir, "t.scope"), filepath.Join(dir, "kept")
		v := victim.Start(t, victim.Config{Path: path, Backing: backing})
		v.Until(t, "a recording", func() bool { return v.Ended() > 10_000 })
		if err := os.Link(path, kept); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		issued, begin := v.Begun(), time.Now()
		v.Until(t, "the recording to go on", func() bool { return v.Begun() > issued+50_000 })
		took := time.Since(begin)
		r := v.Finish(t)
		if r.StopErr != "" || r.LastErr != "" {
			t.Errorf("Stop says %q, Stats %q", r.StopErr, r.LastErr)
		}
		f := v.Check(t, kept)
		if _, err := os.Stat(path); err == nil {
			t.Error("the file is there again")
		}
		t.Logf("G6: %s: removed after %d scopes, %d more in %v: %v, no error", backing, issued, v.Begun()-issued, took.Round(time.Millisecond), f)
	})
}
