package trace_test

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	record "github.com/scopeview/scopeview/scope"
)

// TestRestart reads traces of this machine's boot, and of another.
func TestRestart(t *testing.T) {
	now := trace.Booted()
	if now == "" {
		t.Skip("what this system calls its boot is not known")
	}
	for _, tc := range []struct {
		name, backing, closed, boot string
		reported                    bool
	}{
		{"killed", "disk", "0", now, false},
		{"another boot", "disk", "0", "another", true},
		{"closed", "disk", "1", "another", false},
		{"in memory", "shm", "0", "another", false}, // the missing hot part is reported
		{"not known", "disk", "0", "", false},
	} {
		path := filepath.Join(t.TempDir(), "a.scope")
		tracetest.Write(t, path, "header chunk=65536 backing="+tc.backing+"\nstate closed="+tc.closed+"\nchunk blocks\ninfo \"boot\" \""+tc.boot+"\"\n")
		tr := tracetest.OpenFile(t, path)
		problems := tr.Problems()
		if reported := slices.ContainsFunc(problems, func(p trace.Problem) bool { return strings.Contains(p.Text, "was restarted since") }); reported != tc.reported {
			t.Errorf("%s: reported %t: %v", tc.name, reported, problems)
		}
		for _, p := range problems {
			if tc.reported && p.Damage() {
				t.Errorf("%s: %q counts as damage", tc.name, p.Text)
			}
		}
	}
}

// TestZerosAreValues records values that look like missing pages. As long as it is known that the
// machine did not stop, they are read as recorded: while the program runs, and when it has ended.
func TestZerosAreValues(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("recording on big-endian processors is not supported: docs/guarantees.md, G22")
	}
	path := filepath.Join(t.TempDir(), "a.scope")
	if err := record.Start(path, record.WithRing(8<<20), record.WithFlushEvery(20*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	defer record.Stop()
	zeros := strings.Repeat("\x00", format.MaxString-2)
	for range 100 {
		record.Event("zeros", "value", "x"+zeros+"y")
	}
	look := func(when string) int {
		tr := tracetest.OpenFile(t, path)
		n := 0
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			if e.Kind == format.KindEvent {
				if a := e.Args[len(e.Args)-1]; string(a.Str) != "x"+zeros+"y" {
					t.Fatalf("%s: %v", when, e.Args)
				}
				n++
			}
		}
		for _, p := range tr.Problems() {
			t.Errorf("%s: %s", when, p.Text)
		}
		return n
	}
	// On the heap a round writes the present contents.
	for deadline := time.Now().Add(20 * time.Second); look("while it records") < 100 && !t.Failed(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the events are not in the file")
		}
	}
	if err := record.Stop(); err != nil {
		t.Fatal(err)
	}
	if n := look("closed"); n != 100 {
		t.Errorf("closed: %d events", n)
	}
}
