//go:build !scope_off

package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// ask acts as a process outside: it writes a request into the file and waits
// for the answer.
func ask(t *testing.T, number uint64, c format.Command, text string) format.Answer {
	t.Helper()
	f, err := os.OpenFile(Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (&format.Request{Number: number, Command: c, Text: text}).Store(f); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, a, err := format.ReadControl(f); err == nil && a.Number == number {
			return a
		}
	}
	t.Fatalf("request %d (%d, %q) was not answered", number, c, text)
	return format.Answer{}
}

// TestControl switches a recording off and on, filters it and takes snapshots,
// from outside.
func TestControl(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(8<<20), WithFlushEvery(10*time.Millisecond), WithFilter("a*"))
		both := func() { Task("a")(); Task("b")() }
		check := func(a format.Answer, failed bool, text string) {
			t.Helper()
			if a.Failed != failed || !strings.Contains(a.Text, text) {
				t.Errorf("answered %+v, want %q, failed: %t", a, text, failed)
			}
		}
		open := Begin("a.open")
		both() // records a
		check(ask(t, 1, format.CommandOff, ""), false, "switched off")
		open.End() // scopes that have begun still end
		both()
		if s := Stats(); !s.Off || s.Recorded != 2 {
			t.Errorf("off: %+v", s)
		}
		if err := SetFilter("b"); err != nil {
			t.Fatal(err)
		}
		both() // still off
		check(ask(t, 2, format.CommandFilter, "b*"), false, "switched off")
		check(ask(t, 3, format.CommandOn, ""), false, "by the filter b*")
		both() // records b
		check(ask(t, 4, format.CommandFilter, "b,,"), true, "filter")
		check(ask(t, 5, format.CommandFilter, ""), false, "set")
		both() // records a, b
		check(ask(t, 6, 99, ""), true, "99")
		path := filepath.Join(t.TempDir(), "asked.scope")
		check(ask(t, 7, format.CommandSnapshot, path), false, path)
		check(ask(t, 8, format.CommandSnapshot, path), true, "exists")
		check(ask(t, 9, format.CommandSnapshot, ""), false, filepath.Dir(Path()))
		if s := Stats(); s.Off || s.Filter != "" || s.Snapshots != 2 || s.Recorded != 5 {
			t.Errorf("%+v", s)
		}
		finish(t)
		for _, p := range []string{Path(), path} {
			verify(t, p)
			got := ""
			each(t, p, func(tr *trace.Trace, e *trace.Event) {
				got += tr.Name(e.Name) + " "
				if e.Open {
					t.Errorf("%s is open", tr.Name(e.Name))
				}
			})
			if got != "a.open a b a b " {
				t.Errorf("%s has %q", p, got)
			}
		}
	})
}

// TestControlNonsense writes invalid control words.
func TestControlNonsense(t *testing.T) {
	start(t, WithFlushEvery(10*time.Millisecond))
	f, err := os.OpenFile(Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, format.ControlSize)
	for i := range b {
		b[i] = 0xff
	}
	if _, err := f.WriteAt(b, format.ControlOffset); err != nil {
		t.Fatal(err)
	}
	a := ask(t, 7, format.CommandFilter, "x") // the recorder still works
	if a.Failed {
		t.Errorf("%+v", a)
	}
	Task("x")()
	finish(t)
}
