package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// mergedTrace has records of every form of two processes, whose goroutines have the same numbers: a
// parent, db, and its child api. Both have the lock at one address.
const mergedTrace = `header path=go clock=monotonic mono=1000 start=1000 rate=1000000000
state closed=1 tick=90000
chunk blocks sealed
name 2 "work"
name 3 "mu"
member 1 "/bin/db" "h1" "b" "db.scope" "" shift=30 pid=11 from=1000 to=90000
member 2 "/bin/api" "h1" "b" "api.scope" "" parent=1 shift=30 pid=12 from=1000 to=50000
note ticks=2000 "db 11: a note"
note ticks=3000 "api 12: a note"
calls ticks=80000 2:1000:1:-1
lock mutex #3 ticks=80000 addr=0x100c000010000 acquired=1 contended=0 short=0 short_ns=0
lock mutex #3 ticks=80000 addr=0x200c000010000 acquired=2 contended=0 short=0 short_ns=0
stop ticks=90000
chunk records owner=0 since=1000 sealed
  task "work" g=1073741831 start=2000 stop=60000
  task "work" g=2147483655 start=3000 stop=4000
  pending "work" g=1073741831 start=5000 stop=6000
  pending "work" g=2147483655 start=5000 stop=7000
  event "work" g=1073741831 start=8000
  event "work" g=2147483655 start=8000
  counter "work" g=1073741831 start=9000 value=int:1
  counter "work" g=2147483655 start=9000 value=int:2
  hold "mu" g=1073741831 start=10000 stop=11000 | addr:0x100c000010000
  task "work" g=2147483656 start=12000 open=go
  task "work" g=1073741832 start=13000 open=go
`

func keep(t *testing.T, tr *trace.Trace, list string) error {
	t.Helper()
	p, err := trace.ParseProcesses(list)
	if err != nil {
		t.Fatal(err)
	}
	return tr.KeepProcesses(p)
}

// TestKeptProcessIsAllThatIsRead checks that a merged trace with one process kept returns the whole
// trace's data of that process.
func TestKeptProcessIsAllThatIsRead(t *testing.T) {
	const api = 2
	of := func(goid uint64) bool { return goid>>30 == api }
	line := func(e *trace.Event) string {
		return fmt.Sprintln(e.Kind, e.Name, e.Goid, e.Start, e.Dur, e.Open, e.Depth, e.Value)
	}
	for name, o := range map[string]trace.Options{
		"all": {}, "as recorded": {AsRecorded: true, Detail: trace.Tracks}, "range": {From: 4000, To: 40_000}, "within": {From: 4000, To: 40_000, Within: true},
		"no row": {Detail: trace.Rowless, Alone: true},
	} {
		var want, got []string
		whole, part := tracetest.OpenText(t, mergedTrace), tracetest.OpenText(t, mergedTrace)
		if err := keep(t, part, "api"); err != nil {
			t.Fatal(err)
		}
		err := whole.Events(o, func(e *trace.Event) bool {
			if of(e.Goid) {
				want = append(want, line(e))
			}
			return true
		})
		err = errors.Join(err, part.Events(o, func(e *trace.Event) bool { got = append(got, line(e)); return true }))
		if err != nil || !slices.Equal(got, want) || len(got) < 3 {
			t.Errorf("%s: %v\ngot %q\nwant %q", name, err, got, want)
		}
		if p := part.Problems(); len(p) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestKeptProcessInSumsAndParts(t *testing.T) {
	tr := tracetest.OpenText(t, mergedTrace)
	if err := keep(t, tr, "12"); err != nil {
		t.Fatal(err)
	}
	n := 0
	err := trace.EachPart(tr, trace.Options{Detail: trace.Counts}, func() func(*trace.Part) int {
		return func(p *trace.Part) (n int) {
			p.Events(func(*trace.Event) bool { n++; return true })
			return n
		}
	}, func(k int) bool { n += k; return true })
	if err != nil || n != 5 {
		t.Errorf("%d are counted, %v; want 5", n, err)
	}
	err = trace.EachPart(tr, trace.Options{Running: true, Stretch: 1}, func() func(*trace.Part) bool {
		return func(p *trace.Part) (bad bool) {
			p.Running(func(_ int64, e *trace.Event) { bad = bad || e.Goid>>30 != 2 })
			p.Events(func(e *trace.Event) bool { bad = bad || e.Goid>>30 != 2; return true })
			return bad
		}
	}, func(bad bool) bool {
		if bad {
			t.Error("a scope of the other process runs")
		}
		return true
	})
	var locks []int64
	err = errors.Join(err, tr.EachLockSums(func(s *format.LockSums) bool { locks = append(locks, s.Acquired); return true }))
	if err != nil || !slices.Equal(locks, []int64{2}) {
		t.Errorf("locks were had %d times, %v", locks, err)
	}
	p, calls := tr.Kept()
	if len(tr.Notes) != 1 || tr.Notes[0].Text != "api 12: a note" || len(tr.Calls()) > 0 || p == nil || !calls {
		t.Errorf("%+v, %+v, %v, %v", tr.Notes, tr.Calls(), p, calls)
	}
	if list := tr.Processes(); len(list) != 1 || list[0].Label != "api 12" || list[0].Parent != 0 || tr.Merged() != 2 {
		t.Errorf("%+v of %d", list, tr.Merged())
	}
}

func TestFollowerKeepsProcess(t *testing.T) {
	b := tracetest.Assemble(t, mergedTrace)
	f, err := trace.NewFollower(bytes.NewReader(b), func() (int64, error) { return int64(len(b)), nil }, trace.FollowOptions{FromStart: true})
	if err == nil {
		err = keep(t, f.Trace(), "db")
	}
	ended, open := 0, 0
	count := func(n *int) func(*trace.Event) bool {
		return func(e *trace.Event) bool {
			if *n++; e.Goid>>30 != 1 {
				t.Errorf("%+v is of the other process", e)
			}
			return true
		}
	}
	if err == nil {
		_, err = f.Poll(count(&ended))
	}
	if err == nil {
		err = f.Open(count(&open))
	}
	if err != nil || ended != 5 || open != 1 {
		t.Errorf("%d have ended and %d are open, %v; want 5 and 1", ended, open, err)
	}
}

func TestNoProcessIsKept(t *testing.T) {
	for list, want := range map[string]string{
		"nobody": "the trace has no such process; it has: 11 db, 12 api", "1": "the trace has no such process; it has: 11 db, 12 api",
		"*": "", "11,api": "", "/bin/api": "",
	} {
		tr := tracetest.OpenText(t, mergedTrace)
		err := keep(t, tr, list)
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want || !errors.Is(err, trace.ErrNoProcess)) {
			t.Errorf("%s: %v, want %q", list, err, want)
		}
		if p, _ := tr.Kept(); (p != nil) != (list == "/bin/api") {
			t.Errorf("%s: something is left out: %v", list, p)
		}
	}
	one := tracetest.OpenText(t, strings.Replace(mergedTrace, "member", "#member", 2))
	if err := keep(t, one, "77"); err == nil {
		t.Error("a trace of one process is read of another one")
	}
}
