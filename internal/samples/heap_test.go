package samples

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

const heapText = `header path=go mono=100 clock=monotonic start=1000
state closed=1 tick=9000
chunk blocks sealed
info "gotrace_heap" "on, with a sample after 524288 bytes"
frame 262144 "main.grow" "/src/main.go" line=12 start=10
frame 262145 "main.main" "/src/main.go" line=22 start=20
stack 65536 262144 262145
code 65536 0x401020 0x402000
stack 65537 262144 262145
code 65537 0x401024 0x402000
stack 65538 262145
code 65538 0x402010
samples "alloc-bytes" "bytes" thread=0 base=500 until=900 lost=0 user:600:0:10:65536 user:700:0:20:65537 user:900:0:5:65538 user:900:0:1:0
samples "inuse-bytes" "bytes" thread=0 base=500 until=900 lost=0 user:600:0:100:65536 user:600:0:40:65537 user:700:0:70:65536 user:700:0:2:65538 user:900:0:0:65536 user:900:0:3:65538
samples "page-faults" "count" thread=7 base=500 until=900 lost=0 user:700:0:5:65538
stop ticks=9000
`

// TestHeap: allocations are counted in the range of time; memory in use is that at its end,
// wherever it begins. The goroutine is never known.
func TestHeap(t *testing.T) {
	tr := tracetest.OpenText(t, heapText)
	for _, test := range []struct {
		name, note string
		sel        Selection
		want       []string
	}{
		{"all", heapOld, Selection{}, []string{
			"<Unknown>@0 alloc-bytes=1", "main.grow@401020 main.main@402000 alloc-bytes=10", "main.grow@401024 main.main@402000 alloc-bytes=20 inuse-bytes=40",
			"main.main@402010 page-faults=5 alloc-bytes=5 inuse-bytes=3",
		}},
		{"to", heapOld, Selection{Selection: &analysis.Selection{To: 601}}, []string{
			"main.grow@401020 main.main@402000 alloc-bytes=10 inuse-bytes=70", "main.grow@401024 main.main@402000 alloc-bytes=20 inuse-bytes=40", "main.main@402010 page-faults=5 inuse-bytes=2",
		}},
		{"from", heapOld, Selection{Selection: &analysis.Selection{From: 550}}, []string{
			"<Unknown>@0 alloc-bytes=1", "main.grow@401024 main.main@402000 alloc-bytes=20 inuse-bytes=40", "main.main@402010 page-faults=5 alloc-bytes=5 inuse-bytes=3",
		}},
		{"a thread", heapWhose, Selection{Threads: []uint32{7}}, []string{"main.main@402010 page-faults=5"}},
		{"a goroutine", noGoroutines + "; " + heapWhose, Selection{Goroutines: []uint64{1}}, nil},
		{"a state", heapWhose, Selection{States: []states.State{states.Lock}}, nil},
	} {
		if test.sel.Selection == nil {
			test.sel.Selection = &analysis.Selection{}
		}
		p, err := OfTrace(context.Background(), tr, &test.sel)
		if err != nil {
			t.Fatal(err)
		}
		got := summed(p)
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		if p.Preset != "page-faults" || strings.Join(p.Notes, "; ") != test.note {
			t.Errorf("%s: first is %s; notes %q", test.name, p.Preset, p.Notes)
		}
	}
}

var keeps [][]byte

const block = 64 << 10

// keepsHalf allocates blocks on the line after the one that it returns, and keeps every
// other.
//
//go:noinline
func keepsHalf(n int) (line int) {
	for i := range n {
		_, _, line, _ = runtime.Caller(0)
		b := make([]byte, block)
		if i%2 == 0 {
			keeps = append(keeps, b)
		}
		small = inlined()
	}
	return line + 1
}

var small *[1000]int

func inlined() *[1000]int { return new([1000]int) }

//go:noinline
func keepsNothing(n int) (sum int) {
	var b [block]byte
	for i := range n {
		b[i%block] = byte(i)
		sum += int(b[i/2%block])
	}
	return sum
}

// chains returns the values of a metric of the stacks with keepsHalf, by their functions and
// lines.
func chains(p *Profile, metric string) map[string]int64 {
	of := map[string]int64{}
	for _, s := range p.Stacks {
		var b strings.Builder
		for _, f := range s.Frames {
			if strings.HasPrefix(f.Func, "testing.") {
				break
			}
			fmt.Fprintf(&b, "%s:%d inlined=%v ", f.Func, f.Line, f.Inlined)
		}
		if v := p.Value(s.Values, p.Metric(metric)); v != 0 && strings.Contains(b.String(), ".keepsHalf") {
			of[b.String()] += v
		}
	}
	return of
}

// own returns the value of a metric of the stacks whose innermost frame is a function's, on
// a line if that is not 0.
func own(p *Profile, metric, function string, line int) (v int64) {
	for _, s := range p.Stacks {
		if f := s.Frames[0]; strings.HasSuffix(f.Func, function) && (line == 0 || f.Line == line) {
			v += p.Value(s.Values, p.Metric(metric))
		}
	}
	return v
}

// heapOf returns runtime/pprof's heap profile, once the profile is up to date.
func heapOf(t *testing.T) *Profile {
	t.Helper()
	for range 3 {
		runtime.GC()
	}
	var b bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	p, err := OfPprof(context.Background(), &b, anything())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// heapRecorded records keepsHalf with n blocks, with a sample after every rate bytes, and
// returns runtime/pprof's profiles from before and after.
func heapRecorded(t *testing.T, rate, n int) (p, before, after *Profile, line int) {
	t.Helper()
	old := runtime.MemProfileRate
	runtime.MemProfileRate = rate
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector's assists allocate too
	defer func() { runtime.MemProfileRate, keeps = old, nil }()
	keeps = make([][]byte, 0, n)
	before = heapOf(t)
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, scope.WithHeartbeat(20*time.Millisecond), gotrace.With(gotrace.WithHeap()))
	line = keepsHalf(n)
	keepsNothing(n)
	after = heapOf(t)
	end()
	runtime.KeepAlive(keeps)
	runtime.KeepAlive(small)
	tr := tracetest.OpenFile(t, path)
	if how := tr.Lookup("gotrace_heap"); how != fmt.Sprintf("on, with a sample after %d bytes", rate) {
		t.Errorf("the heap profile is %q", how)
	}
	p, err := OfTrace(context.Background(), tr, anything())
	if err != nil {
		t.Fatal(err)
	}
	return p, before, after, line
}

// TestRecordedHeap: a line's allocations and memory in use are exact to the byte if each
// allocation is sampled, and always equal runtime/pprof's for the same samples.
func TestRecordedHeap(t *testing.T) {
	for _, test := range []struct{ rate, n, off int }{{1, 200, 0}, {512 << 10, 2000, 40}} {
		p, before, after, line := heapRecorded(t, test.rate, test.n)
		if n := own(p, "alloc-objects", ".inlined", 0); test.rate == 1 && n != int64(test.n) {
			t.Errorf("%d objects are allocated in what was inlined", n)
		}
		for _, m := range []struct {
			ours, theirs string
			old          int64 // 1: subtract what there was before
			want         int
		}{
			{"alloc-bytes", "alloc_space", 1, test.n * block}, {"alloc-objects", "alloc_objects", 1, test.n},
			{"inuse-bytes", "inuse_space", 0, test.n * block / 2}, {"inuse-objects", "inuse_objects", 0, test.n / 2},
		} {
			got, want := own(p, m.ours, ".keepsHalf", line), int64(m.want)
			theirs := own(after, m.theirs, ".keepsHalf", line) - m.old*own(before, m.theirs, ".keepsHalf", line)
			t.Logf("rate %d: %s of the line is %d, by pprof %d, and was %d", test.rate, m.ours, got, theirs, want)
			if got != theirs || 100*max(got-want, want-got) > int64(test.off)*want {
				t.Errorf("rate %d: %s of the line is %d, by pprof %d, want %d", test.rate, m.ours, got, theirs, want)
			}
			if m.old == 0 && !maps.Equal(chains(p, m.ours), chains(after, m.theirs)) {
				t.Errorf("rate %d: %s by stack is\n%v\nby pprof\n%v", test.rate, m.ours, chains(p, m.ours), chains(after, m.theirs))
			}
			if on(p, m.ours, ".TestRecordedHeap") < got || on(p, m.ours, ".keepsNothing") != 0 {
				t.Errorf("rate %d: of %s the test has %d, and keepsNothing %d", test.rate, m.ours, on(p, m.ours, ".TestRecordedHeap"), on(p, m.ours, ".keepsNothing"))
			}
		}
	}
}
