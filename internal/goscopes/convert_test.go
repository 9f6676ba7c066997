package goscopes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/goscopes"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
)

// traced returns the Go execution trace of f. The function passed to f ends a generation.
func traced(t testing.TB, f func(next func())) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skip(err) // go test -trace is running
	}
	r := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	f(func() {
		if _, err := r.WriteTo(io.Discard); err != nil {
			t.Error(err)
		}
	})
	r.Stop()
	trace.Stop()
	return b.Bytes()
}

// jobs has regions, tasks and logs: in one generation, across several, ended on another
// goroutine, and not ended.
func jobs(next func()) {
	ctx := context.Background()
	var wg sync.WaitGroup
	outer := trace.StartRegion(ctx, "outer")
	opened := make(chan bool)
	go func() {
		trace.StartRegion(ctx, "open")
		close(opened)
		select {}
	}()
	<-opened
	for i := range 12 {
		ctx, task := trace.NewTask(ctx, fmt.Sprintf("task %d", i%3))
		inner := trace.StartRegion(ctx, "inner")
		trace.Log(ctx, "seen", fmt.Sprint("number ", i))
		wg.Go(func() {
			time.Sleep(100 * time.Microsecond)
			trace.WithRegion(ctx, "in another goroutine", func() { trace.Log(ctx, "", "no category") })
			_, below := trace.NewTask(ctx, "below")
			below.End()
			if i%2 == 0 {
				task.End()
			}
		})
		if i%4 == 3 {
			next()
		}
		inner.End()
		if i%2 == 1 {
			task.End()
		}
	}
	wg.Wait()
	outer.End()
}

// known is a scope or an event.
type known struct {
	kind, name string
	goid, end  uint64 // the goroutine that ended it
	from, to   int64  // to is -1 if it did not end
	task       uint64
	message    string
}

// decoded returns the scopes and events of a Go execution trace, by the decoder.
func decoded(t *testing.T, b []byte) (all []*known) {
	t.Helper()
	r, err := exptrace.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]*known{}
	var first int64
	for {
		e, err := r.ReadEvent()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 && e.Kind() != exptrace.EventSync {
			first = int64(e.Time())
		}
		at, goid := int64(e.Time())-first, uint64(e.Goroutine())
		add := func(key string, k known) {
			k.goid, k.from, k.to, k.end = goid, at, -1, goid
			all = append(all, &k)
			open[key] = &k
		}
		end := func(key string) {
			if k := open[key]; k != nil {
				k.to, k.end = at, goid
				delete(open, key)
			}
		}
		switch e.Kind() {
		case exptrace.EventRegionBegin:
			add(fmt.Sprint(goid, e.Region().Type), known{kind: "task", name: e.Region().Type, task: uint64(e.Region().Task)})
		case exptrace.EventRegionEnd:
			end(fmt.Sprint(goid, e.Region().Type))
		case exptrace.EventTaskBegin:
			add(fmt.Sprint("task", e.Task().ID), known{kind: "task", name: e.Task().Type, task: uint64(e.Task().ID)})
		case exptrace.EventTaskEnd:
			end(fmt.Sprint("task", e.Task().ID))
		case exptrace.EventLog:
			l := e.Log()
			k := known{kind: "event", name: l.Category, message: l.Message, task: uint64(l.Task)}
			if k.name == "" {
				k.name = "log"
			}
			add("", k)
			k.to = at
			open[""].to = at
		}
	}
}

// converted converts a Go execution trace, and checks the result.
func converted(t *testing.T, b []byte) *scopetrace.Trace {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := goscopes.Convert(t.Context(), f, bytes.NewReader(b), goscopes.Options{Name: "go.trace"}); err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	findings, err := scopetrace.Verify(f, st.Size())
	if err != nil || len(findings) > 0 {
		t.Errorf("%v, %v", err, findings[:min(len(findings), 10)])
	}
	tr, err := scopetrace.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// scopesOf returns the scopes and events of a trace, and the number of those that began
// before it.
func scopesOf(t *testing.T, tr *scopetrace.Trace) (all []*known, early int) {
	t.Helper()
	lister := args.NewLister(tr.Name)
	for e := range tracetest.Events(t, tr, scopetrace.Options{AsRecorded: true}) {
		if e.Kind != format.KindTask && e.Kind != format.KindEvent {
			continue
		}
		k := &known{kind: e.Kind.String(), name: tr.Name(e.Name), goid: e.Goid, end: e.Goid, from: e.Start, to: e.Start + e.Dur}
		if e.Open {
			k.to = -1
		}
		if e.EndGoid != 0 {
			k.end = e.EndGoid
		}
		for _, a := range lister.List(e) {
			switch a.Key {
			case "task":
				k.task = a.Value.Value
			case "message":
				k.message = string(a.Value.Str)
			case "began":
				early++
			}
		}
		all = append(all, k)
	}
	return all, early
}

// same compares converted scopes with those of the decoder, whose times may be off where a
// thread was taken off its CPU.
func same(t *testing.T, got, want []*known) {
	t.Helper()
	order := func(a, b *known) int {
		return strings.Compare(fmt.Sprint(a.kind, a.name, a.goid, a.task, a.message), fmt.Sprint(b.kind, b.name, b.goid, b.task, b.message))
	}
	slices.SortStableFunc(got, order)
	slices.SortStableFunc(want, order)
	if len(got) != len(want) {
		t.Errorf("%d scopes and events, want %d", len(got), len(want))
	}
	near := func(a, b int64) bool { return (a < 0) == (b < 0) && max(a-b, b-a) < int64(5*time.Millisecond) }
	for i := range min(len(got), len(want)) {
		g, w := *got[i], *want[i]
		if near(g.from, w.from) && near(g.to, w.to) {
			g.from, g.to = w.from, w.to
		}
		if g != w {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
}

// TestConvert: every region, task and log of the program is converted, as the decoder reads it.
func TestConvert(t *testing.T) {
	b := traced(t, jobs)
	want := decoded(t, b)
	got, early := scopesOf(t, converted(t, b))
	same(t, got, want)
	if early > 0 || len(want) < 12*5+2 {
		t.Errorf("%d began before the trace, of %d", early, len(want))
	}
}

// TestVersions reads traces of older versions of Go.
func TestVersions(t *testing.T) {
	for _, v := range []string{"1.22", "1.23", "1.25", "1.26"} {
		t.Run(v, func(t *testing.T) {
			b := filetest.Read(t, "testdata/go"+v+".trace")
			tr := converted(t, b)
			got, _ := scopesOf(t, tr)
			same(t, got, decoded(t, b))
			if len(got) != 162 {
				t.Errorf("%d scopes and events", len(got))
			}
			if made := tr.Lookup("made_of"); made != "go.trace, a Go execution trace in the format of Go "+v {
				t.Errorf("%q", made)
			}
			if g := tr.GoTraces(); len(g) != 1 || g[0].Size != int64(len(b)) {
				t.Errorf("%+v", g)
			} else if raw, err := io.ReadAll(g[0].Reader()); err != nil || !bytes.Equal(raw, b) {
				t.Errorf("the Go execution trace is another one: %v", err)
			}
			rows := map[string]int{}
			tr.Events(scopetrace.Options{AsRecorded: true}, func(e *scopetrace.Event) bool {
				if e.Kind == format.KindGo || e.Kind == format.KindTrack {
					rows[tr.Name(e.Name)]++
				}
				return true
			})
			if rows["main.worker"] != 4 || rows["main.worker.func2"] != 14 || rows["main.main"] != 1 || rows["main.main.func2"] != 1 {
				t.Errorf("rows: %v", rows)
			}
		})
	}
}

// TestEarly: scopes that began before the trace are shown from its begin on, with an
// argument that says so.
func TestEarly(t *testing.T) {
	cut, err := gowire.NewCutter(bytes.NewReader(traced(t, jobs)))
	if err != nil {
		t.Fatal(err)
	}
	var gens [][]byte
	for g, err := cut.Next(); err == nil; g, err = cut.Next() {
		gens = append(gens, slices.Concat(g.Blocks()...))
	}
	for i := range gens { // the first ones precede the jobs
		rest := slices.Concat(append([][]byte{cut.Head()}, gens[i:]...)...)
		all, early := scopesOf(t, converted(t, rest))
		if early == 0 {
			continue
		}
		outer := slices.IndexFunc(all, func(k *known) bool { return k.name == "outer" })
		if outer < 0 || all[outer].from != 0 || all[outer].to <= 0 {
			t.Errorf("%d began before the trace; outer is number %d", early, outer)
		}
		return
	}
	t.Errorf("nothing began before the trace in any of %d generations", len(gens))
}

// TestBad: for any bytes, the result is a sound trace or an error.
func TestBad(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "the file is empty",
		"go 1.":                          "not a Go execution trace",
		"go 1.26 trac":                   "not a Go execution trace",
		"go 1.21 trace\x00\x00\x00":      "it is of Go 1.21",
		"go 1.99 trace\x00\x00\x00hello": "a newer one may",
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "x"))
		if err != nil {
			t.Fatal(err)
		}
		if err := goscopes.Convert(t.Context(), f, strings.NewReader(text), goscopes.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		f.Close()
	}
	good := filetest.Read(t, "testdata/go1.26.trace")
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		b := bytes.Clone(good)
		for range 1 + rnd.IntN(8) {
			b[16+rnd.IntN(len(b)-16)] = byte(rnd.IntN(256))
		}
		if i%3 == 0 {
			b = b[:16+rnd.IntN(len(b)-16)]
		}
		converted(t, b)
		if t.Failed() {
			t.Fatalf("of %x", b)
		}
	}
}

// TestStops: a cancelled context ends the conversion with its error.
func TestStops(t *testing.T) {
	good := filetest.Read(t, "testdata/go1.26.trace")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := goscopes.Convert(ctx, f, bytes.NewReader(good), goscopes.Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
