//go:build !scope_off

package record_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// seen is an event as read, with its texts resolved.
type seen struct {
	trace.Event
	name, track   string
	args, endArgs string
}

// String formats the event without what differs from run to run:
//
//	KIND "name" [value] [depth=N] [track="name"] [open] [| ARG…] [|| ARG…]
func (e *seen) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %q", e.Kind, e.name)
	if e.Kind == format.KindCounter {
		b.WriteString(" " + slotText(&format.Slot{Type: e.ValueType, Value: e.Value}, nil))
	}
	if e.Depth != 0 {
		fmt.Fprintf(&b, " depth=%d", e.Depth)
	}
	if e.track != "" {
		fmt.Fprintf(&b, " track=%q", e.track)
	}
	if e.Open {
		b.WriteString(" open")
	}
	if e.args != "" {
		b.WriteString(" | " + e.args)
	}
	if e.endArgs != "" {
		b.WriteString(" || " + e.endArgs)
	}
	return b.String()
}

// slotsText formats slots as type:value, each after its key if it has one.
func slotsText(slots []format.Slot, name func(uint16) string) string {
	var b strings.Builder
	for i := range slots {
		if i > 0 && slots[i-1].Type != format.SlotKey {
			b.WriteByte(' ')
		}
		b.WriteString(slotText(&slots[i], name))
	}
	return b.String()
}

func slotText(s *format.Slot, name func(uint16) string) string {
	t := format.SlotNames[s.Type]
	switch s.Type {
	case format.SlotKey:
		return name(uint16(s.Value)) + "="
	case format.SlotString, format.SlotType_:
		if s.Full != len(s.Str) {
			return fmt.Sprintf("%s:%d of %d bytes", t, len(s.Str), s.Full)
		}
		return fmt.Sprintf("%s:%q", t, s.Str)
	case format.SlotUint:
		return fmt.Sprintf("%s:%d", t, s.Value)
	case format.SlotFloat:
		return fmt.Sprintf("%s:%v", t, s.Float())
	case format.SlotBool:
		return fmt.Sprintf("%s:%t", t, s.Value == 1)
	case format.SlotDuration:
		return fmt.Sprintf("%s:%v", t, time.Duration(s.Value))
	case format.SlotAddr:
		return t
	}
	return fmt.Sprintf("%s:%d", t, s.Int())
}

// tick waits until the clock has advanced. With a coarse clock, a scope that
// begins and ends at the tick at which its parent ends can't be distinguished
// from what follows.
func tick() {
	c := sys.NewClock()
	for t := c.Now(); c.Now() == t; {
	}
}

// recorded is a trace that was read.
type recorded struct {
	*trace.Trace
	events []seen
}

// lines returns the events as text, in the order of their starts.
func (r *recorded) lines() []string {
	var l []string
	for i := range r.events {
		l = append(l, r.events[i].String())
	}
	return l
}

// named returns the events with that name.
func (r *recorded) named(name string) (found []*seen) {
	for i := range r.events {
		if e := &r.events[i]; e.name == name {
			found = append(found, e)
		}
	}
	return found
}

// read opens a trace and checks what holds for every trace, closed or not: the
// reader reports no problems, and CPU times do not exceed wall times.
func read(t *testing.T, path string) *recorded {
	t.Helper()
	r := &recorded{}
	r.Trace = each(t, path, func(tr *trace.Trace, e *trace.Event) {
		x := seen{Event: *e, name: tr.Name(e.Name), track: tr.Name(e.Track)}
		x.args, x.endArgs = slotsText(e.Args, tr.Name), slotsText(e.EndArgs, tr.Name)
		// The slots are in the reader's memory; the test of Lock needs this one.
		x.Args, x.EndArgs = slices.Clone(e.Args), nil
		r.events = append(r.events, x)
	})
	return r
}

// each calls f with every event of a trace, which it checks as read does; for
// traces too long to keep in memory.
func each(t *testing.T, path string, f func(*trace.Trace, *trace.Event)) *trace.Trace {
	t.Helper()
	tr, problems := eachAnyway(t, path, f)
	for _, p := range problems {
		t.Errorf("problem at %d (%d times): %s", p.Offset, p.Count, p.Text)
	}
	return tr
}

// eachAnyway returns the trace's problems instead of reporting them.
func eachAnyway(t *testing.T, path string, f func(*trace.Trace, *trace.Event)) (*trace.Trace, []trace.Problem) {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	defer tr.Close() // a test that reads in a loop counts its descriptors
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Dur < 0 || e.Quality != format.Unknown && e.Kind != format.KindProcess && (e.CPU < 0 || e.CPU > e.Dur) {
			t.Errorf("%v %q took %d ns and %d ns of CPU time (%v)", e.Kind, tr.Name(e.Name), e.Dur, e.CPU, e.Quality)
		}
		f(tr, e)
	}
	return tr, tr.Problems()
}

// verify checks a trace against all rules of the format.
func verify(t *testing.T, path string) {
	t.Helper()
	tracetest.Verify(t, path)
}

// start begins recording into a new directory. A recording that still runs when
// the test ends is stopped, so that one failed test does not fail all others.
func start(t testing.TB, opts ...Option) {
	t.Helper()
	if faultfs.Emulated() {
		// A changed default, not WithLimit, which can't be combined with a ring.
		opts = append([]Option{func(o *record.Options) { o.OwnLimit(64 << 20) }}, opts...)
	}
	if err := Start(t.TempDir()+string(filepath.Separator), opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { Stop() })
}

// finish ends the recording.
func finish(t testing.TB) {
	t.Helper()
	if err := Stop(); err != nil {
		t.Fatal(err)
	}
}

// stop ends the recording, reads it, and checks Stats against it.
func stop(t *testing.T) *recorded {
	t.Helper()
	finish(t)
	r := read(t, Path())
	verify(t, Path())
	if !r.Closed() {
		t.Error("the trace is not closed")
	}
	if s := Stats(); s.Recorded != int64(len(r.events)) {
		t.Errorf("%d records were kept, the trace has %d", s.Recorded, len(r.events))
	}
	return r
}

// stateOf returns the state at the beginning of a Mutex or RWMutex.
func stateOf(l sync.Locker) *record.LockState {
	return (*record.LockState)(reflect.ValueOf(l).UnsafePointer())
}

// handleOf returns the handle in a Span.
func handleOf(s Span) record.Handle { return *(*record.Handle)(unsafe.Pointer(&s)) }

// retriesOf returns the record.Retries in a Retries.
func retriesOf(r *Retries) *record.Retries { return (*record.Retries)(unsafe.Pointer(r)) }

// scopeAt identifies a scope by its place and its start.
type scopeAt struct{ loc, start int64 }
