//go:build !scope_off

package hooks

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestReceiver makes the standard library's calls, and reads the result.
func TestReceiver(t *testing.T) {
	record.Instrument(1)
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, scope.WithLockThreshold(scope.LocksAll))
	const mutex, receive = 0x1000, 0x2000
	var oneOf uint32
	LeftOut("3\tthey are small\n")
	thinOut(&oneOf)
	made(1<<30, 0, 0)

	a, b, c := park(mutex, 0, 0, 0)
	a, b, c = park(mutex, a, b, c)  // another goroutine was faster
	d, e, f := park(mutex, 0, 0, 0) // one more, so that the release is recorded
	waited(mutex, record.MutexWhat, a, b, c)
	unlock(mutex, record.MutexWhat)
	waited(mutex, record.MutexWhat, d, e, f)
	a, b, c = wait(receive, format.LockSlot(format.LockCond, format.LockExclusive))
	waited(receive, format.LockSlot(format.LockCond, format.LockExclusive), a, b, c)
	blocked(receive, format.LockSlot(format.LockReceive, format.LockExclusive), 1000, 0)

	next, a, b := request(context.Background(), "GET", "", "/users/7", "seven", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", nil)
	a2, b2, parent, _ := send(next, "PUT", "x.example", "/y", nil)
	if parent != "" {
		t.Errorf("the receiver gets %q, and nobody wants that", parent)
	}
	answered(a2, b2, 204, nil)
	responded(a, b, "/users/{id}", 503, false)
	_, a, b = request(context.Background(), "POST", "POST /pay", "/pay", "", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", nil)
	responded(a, b, "", 200, true) // it wrote before it panicked
	a, b = test("TestParent/child", -1)
	pause, began := test("", -1)
	tested(pause, began, "")
	tested(a, b, "skip")
	a, b = test("BenchmarkIt", 3)
	tested(a, b, "pass")
	end()

	tr := tracetest.OpenFile(t, path)
	lister := args.NewLister(tr.Name)
	var got []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		line := e.Kind.String() + " " + tr.Name(e.Name)
		if e.Kind == format.KindWait || e.Kind == format.KindHold {
			line = e.Kind.String()
		}
		for _, a := range lister.List(e) {
			switch {
			case a.Key == "status" || a.Key == "panicked":
				line += " " + a.Key + "=" + strconv.FormatInt(a.Value.Int(), 10)
			case a.Value.Type == format.SlotString && a.Key != "span_id" && a.Key != "parent_id":
				line += " " + a.Key + "=" + string(a.Value.Str)
			}
		}
		got = append(got, line)
	}
	for _, p := range tr.NamePlaces(0) {
		if p.Kind == format.LockUnknown {
			t.Errorf("%q is in no line of the program, but from %+v", tr.Name(p.Name), p)
		}
	}
	for _, want := range []string{
		"wait lock=mutex", "hold lock=mutex", "wait lock=cond", "wait lock=receive",
		"task GET /users/… trace_id=4bf92f3577b34da6a3ce929d0e0e4736 path=/users/7 id=seven pattern=/users/{id} status=503",
		"task POST /pay trace_id=4bf92f3577b34da6a3ce929d0e0e4736 path=/pay status=200 panicked=1",
		"task HTTP PUT x.example trace_id=4bf92f3577b34da6a3ce929d0e0e4736 path=/y status=204",
		"track TestParent/child", "task TestParent/child result=skip", "task parallel pause", "task BenchmarkIt result=pass",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestManySubtests: a test with very many subtests leaves room for other names, and every
// subtest has its name.
func TestManySubtests(t *testing.T) {
	record.Instrument(1)
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path)
	const many = format.MaxNames + 100
	for i := range many {
		a, b := test("TestMany/"+strconv.Itoa(i), -1)
		tested(a, b, "pass")
	}
	scope.Task("later")()
	end()
	tr := tracetest.OpenFile(t, path)
	lister, seen, later, own := args.NewLister(tr.Name), map[string]bool{}, 0, 0
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind != format.KindTask {
			continue
		}
		name := tr.Name(e.Name)
		for _, a := range lister.List(e) {
			if a.Key == "test" {
				if name != "TestMany" || e.Track != e.Name {
					t.Fatalf("a subtest is called %q, on a row called %q", name, tr.Name(e.Track))
				}
				name = string(a.Value.Str)
				own--
			}
		}
		if own++; name == "later" {
			later++
		}
		seen[name] = true
	}
	if later != 1 || len(seen) != many+1 || own < format.MaxNames/2-100 || own > format.MaxNames/2+100 {
		t.Errorf("%d names, %d of %d subtests have their own; later was recorded %d times", len(seen), own, many, later)
	}
}
