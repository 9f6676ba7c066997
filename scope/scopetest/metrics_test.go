//go:build !scope_off

package scopetest

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// TestDurations: the durations agree with those of the tools' reader, for each path and
// backing, and for scopes that end late, on another goroutine, or not at all.
func TestDurations(t *testing.T) {
	for name, backing := range map[string]scope.Option{"as it is": nil, "heap": scope.WithBacking(scope.HeapBacking), "disk": scope.WithBacking(scope.DiskBacking)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.scope")
			if err := scope.Start(path, backing); err != nil {
				if strings.Contains(err.Error(), scope.ErrOption.Error()) {
					t.Skip(err)
				}
				t.Fatal(err)
			}
			long, late := scope.Begin("long"), scope.Process("late")
			open := scope.Begin("open")
			for i := range 6_000 {
				scope.Taskf("made %d", i)()
				end := scope.Task("short")
				scope.Event("event", i)
				end()
			}
			done := make(chan bool)
			go func() {
				long.End("elsewhere")
				late()
				close(done)
			}()
			<-done
			if err := scope.Stop(); err != nil {
				t.Fatal(err)
			}
			open.End() // too late
			d, err := readDurations(path)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]int64{}
			tr := tracetest.OpenFile(t, path)
			for e := range tracetest.Events(t, tr, trace.Options{}) {
				if k := e.Kind; !e.Open && (k == format.KindTask || k == format.KindTaskf || k == format.KindProcess) {
					want[tr.Name(e.Name)] = append(want[tr.Name(e.Name)], e.Dur)
				}
			}
			names := func(m map[string][]int64) []string { return slices.Sorted(maps.Keys(m)) }
			if got := names(d.ns); !slices.Equal(got, names(want)) || len(got) != 4 && d.lost == 0 {
				t.Fatalf("names %q, want %q", got, names(want))
			}
			for name, list := range want {
				got := d.ns[name]
				slices.Sort(list)
				slices.Sort(got)
				if len(got) != len(list) {
					t.Errorf("%s: %d durations, want %d", name, len(got), len(list))
					continue
				}
				for i := range got { // the reader corrects the clock at each calibration
					if math.Abs(float64(got[i]-list[i])) > 2+float64(list[i])/1000 {
						t.Fatalf("%s: the duration %d of %d is %d ns, want %d", name, i, len(got), got[i], list[i])
					}
				}
			}
			if lost := tr.State().Lost; d.lost != lost {
				t.Errorf("%d records are lost, want %d", d.lost, lost)
			}
		})
	}
}

// TestDurationsOfNone: a file that is not a closed trace is an error.
func TestDurationsOfNone(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	filetest.Write(t, text, []byte("this is no trace"))
	open := filepath.Join(dir, "open.scope")
	if err := scope.Start(open); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	for _, path := range []string{filepath.Join(dir, "none"), text, open} {
		if _, err := readDurations(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestReport checks the quantiles, by nearest rank, and the units.
func TestReport(t *testing.T) {
	d := durations{ns: map[string][]int64{"GET /x": {30, 10, 20}, "one": {7}}, lost: 2}
	for i := range int64(200) {
		d.ns["many"] = append(d.ns["many"], 200-i)
	}
	got := map[string]float64{}
	d.report(func(n float64, unit string) { got[unit] = n })
	want := map[string]float64{"GET__x-p50-ns": 20, "GET__x-p99-ns": 30, "one-p50-ns": 7, "one-p99-ns": 7, "many-p50-ns": 100, "many-p99-ns": 198, "lost-scopes": 2}
	if !maps.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestMetrics: a benchmark has the metrics of the names that it asks for.
func TestMetrics(t *testing.T) {
	defer flag.Set("test.benchtime", flag.Lookup("test.benchtime").Value.String())
	flag.Set("test.benchtime", "100x")
	run := func(names ...string) testing.BenchmarkResult {
		return testing.Benchmark(func(b *testing.B) {
			Metrics(b, names...)
			for range b.N {
				end := scope.Task("parse")
				scope.Task("read")()
				end()
			}
		})
	}
	r := run("par*", "other")
	units := slices.Sorted(maps.Keys(r.Extra))
	if fmt.Sprint(units) != "[parse-p50-ns parse-p99-ns]" {
		t.Fatalf("metrics %q", units)
	}
	if p50, p99 := r.Extra["parse-p50-ns"], r.Extra["parse-p99-ns"]; p50 <= 0 || p99 < p50 || p50 > float64(r.T.Nanoseconds()) {
		t.Errorf("p50 %v, p99 %v, and %d ns/op", p50, p99, r.NsPerOp())
	}
	if scope.Enabled() {
		t.Error("it is still recording")
	}
	if err := scope.Start(filepath.Join(t.TempDir(), "x.scope")); err != nil {
		t.Fatal(err)
	}
	defer scope.Stop()
	if r := run("parse"); len(r.Extra) != 0 || !scope.Enabled() {
		t.Errorf("beside a recording: %v", r.Extra)
	}
}
