package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	model "github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// sampled formats a sample: time, goroutine or thread, and stack, the outermost function
// first.
func sampled(at int64, whose uint64, stack []string) string {
	return fmt.Sprintf("%012d %d %s", at, whose, strings.Join(stack, ";"))
}

// wantSamples returns the samples of CPU time: in microseconds and by goroutine for Chrome,
// otherwise in nanoseconds and by thread. An unknown goroutine is 0.
func wantSamples(t *testing.T, tr *trace.Trace, forChrome bool) (list []string) {
	t.Helper()
	_, err := model.OfTrace(context.Background(), tr, &model.Selection{Selection: &analysis.Selection{}, Imputed: true, Each: func(s *model.Sample) {
		var stack []string
		for _, f := range slices.Backward(s.Frames) {
			stack = append(stack, f.Func)
		}
		switch {
		case !s.OnCPU:
		case forChrome:
			list = append(list, sampled(s.Time/1000, s.Labels.Goid, stack))
		default:
			list = append(list, sampled(max(s.Time, 0), uint64(s.Labels.Thread), stack))
		}
	}})
	if err != nil && !errors.Is(err, model.ErrNone) && !errors.Is(err, model.ErrOverflow) { // an overflow concerns only sums
		return nil // no samples can be read, so none are to be written
	}
	return list
}

func checkSamples(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s has %d samples, want %d:\n%s\nwant\n%s", what, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

type v8Node struct {
	ID        uint32
	Parent    uint32
	CallFrame struct{ FunctionName string }
}

// chromeSamples reads the profile as Perfetto and Chrome's page do: events by ts, times as
// sums of deltas, a node after its parent.
func chromeSamples(t *testing.T, data []byte) (list []string) {
	t.Helper()
	var f struct {
		TraceEvents []struct {
			PH, Name, Cat string
			TID           uint32
			TS            float64
			Args          struct {
				Data struct {
					StartTime  *int64
					CPUProfile struct {
						Nodes   []v8Node
						Samples []uint32
					}
					TimeDeltas []int64
				}
			}
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if f.TraceEvents[0].Cat != "" {
		t.Error("the first event has a category: Speedscope would show nothing but the samples")
	}
	stacks, now, begun, last := map[uint32][]string{0: nil}, int64(0), false, 0.0
	for _, e := range f.TraceEvents {
		if e.PH != "P" {
			continue
		}
		if e.TS < last {
			t.Errorf("an event at %v comes after one at %v", e.TS, last)
		}
		last = e.TS
		d := e.Args.Data
		if d.StartTime != nil {
			now, begun = *d.StartTime, true
		}
		for _, n := range d.CPUProfile.Nodes {
			up, ok := stacks[n.Parent]
			if _, twice := stacks[n.ID]; !ok || twice || n.ID < 2 || !begun {
				t.Errorf("node %+v has no parent, or is none of its own", n)
			}
			stacks[n.ID] = append(slices.Clone(up), n.CallFrame.FunctionName)
		}
		for i, leaf := range d.CPUProfile.Samples {
			now += d.TimeDeltas[i]
			goid := uint64(e.TID)
			if goid >= 1<<31 {
				goid = 0
			}
			list = append(list, sampled(now, goid, stacks[leaf]))
		}
	}
	return list
}

// perfettoSamples reads samples as a trace processor does.
func perfettoSamples(t *testing.T, data []byte) (list []string) {
	t.Helper()
	tables := map[uint64]map[uint64]message{5: {}, 6: {}, 7: {}, 17: {}, 18: {}, 19: {}}
	find := func(table, id uint64) message {
		m, ok := tables[table][id]
		if !ok {
			t.Errorf("nothing defines %d in table %d", id, table)
		}
		return m
	}
	var clock int64
	for _, raw := range decode(t, data)[1] {
		p := decode(t, raw.bytes)
		interned := p.sub(t, 12)
		for field, table := range tables {
			for _, v := range interned[field] {
				m := decode(t, v.bytes)
				if _, twice := table[m.num(1)]; twice || m.num(1) == 0 {
					t.Errorf("%d is defined twice in table %d, or is 0", m.num(1), field)
				}
				table[m.num(1)] = m
			}
		}
		at := int64(p.num(8))
		if p.num(58) == 0 {
			clock += at
			at = clock
		}
		s := p.sub(t, 66)
		if s == nil {
			continue
		}
		var stack []string
		for _, v := range find(7, s.num(4))[2] {
			f := find(6, v.n)
			find(17, find(19, f.num(3)).num(7))
			if f.num(5) != 0 {
				find(18, f.num(5))
			}
			stack = append(stack, find(5, f.num(2)).str(t, 2))
		}
		list = append(list, sampled(at, s.num(3), stack))
	}
	return list
}

//go:noinline
func burn(d time.Duration) (n int) {
	for until := time.Now().Add(d); time.Now().Before(until); {
		for range 10_000 {
			n += n*7 + 1
		}
	}
	return n
}

//go:noinline
func caller(done chan int) { done <- burn(500 * time.Millisecond) }

// TestSamples: both formats have all samples, with the callers and those of the go statement
// in order, on the goroutine's row, as often as they were sampled, and none that is not
// selected.
func TestSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, gotrace.With())
	done := make(chan int)
	go func() {
		scope.Track("burner")
		caller(done)
	}()
	<-done
	end()
	tr := tracetest.OpenFile(t, path)
	tr.UseCPU(func() (trace.CPUAt, error) { return nil, errors.New("the Go trace is read once more") })
	json, proto := exported(t, tr, rows.Options{})
	const stack = "rows_test.TestSamples;github.com/scopeview/scopeview/internal/export/rows_test.TestSamples.func1;" +
		"github.com/scopeview/scopeview/internal/export/rows_test.caller;github.com/scopeview/scopeview/internal/export/rows_test.burn"
	for what, got := range map[string][]string{"chrome": json, "perfetto": proto} {
		checkSamples(t, what, got, wantSamples(t, tr, what == "chrome"))
		if n := len(got); n == 0 || !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, stack) }) {
			t.Errorf("none of %s's %d samples is in burn: %q", what, n, got)
		}
	}
	o := rows.Options{}
	o.From, o.To = 1, 2
	if json, proto = exported(t, tr, o); len(json)+len(proto) > 0 {
		t.Errorf("in a nanosecond there are %q and %q", json, proto)
	}
	for name, write := range exporters {
		full := errors.New("no space left on device")
		if err := write(context.Background(), &failing{err: full}, tr, rows.Options{}); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := write(ctx, io.Discard, tr, rows.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, canceled: %v", name, err)
		}
	}
}

func exported(t *testing.T, tr *trace.Trace, o rows.Options) (json, proto []string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := chrome.Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	json = chromeSamples(t, b.Bytes())
	b.Reset()
	if _, err := perfetto.Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	return json, perfettoSamples(t, b.Bytes())
}
