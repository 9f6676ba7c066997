package scopetest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/scopeview/scopeview/scope"
)

// metricsLimit is what a benchmark's trace may grow to: some 8 million scopes.
const metricsLimit = 256 << 20

// Metrics has a benchmark report what its scopes take that are called so: the median and the
// 99th percentile of their durations, as the metrics NAME-p50-ns and NAME-p99-ns. Names are
// globs, as in scope.SetFilter; without one it is all scopes. Spaces and slashes of a name are
// underscores in its metrics, as a unit has none.
//
// It is called first, and records until the benchmark's cleanups. That is not part of the time
// that is measured, but the scopes are: one takes some 30 ns, and one of another name some 5.
// Scopes that did not end, and waits, are not counted. What a run records beyond some 8 million
// scopes is not kept, and counted by the metric lost-scopes; the others are of the run's begin.
//
// Where a recording is running, as one by -scope is, nothing is reported, which is logged.
func Metrics(b *testing.B, names ...string) {
	b.Helper()
	if scope.Enabled() {
		b.Log("scopetest: no metrics of scopes, as a recording is running")
		return
	}
	b.StopTimer()
	defer b.StartTimer()
	path := filepath.Join(b.TempDir(), "benchmark.scope")
	if err := scope.Start(path, scope.WithFilter(strings.Join(names, ",")), scope.WithLimit(metricsLimit)); err != nil {
		b.Fatal(err)
	}
	if !scope.Enabled() {
		b.Log("scopetest: no metrics of scopes, as the tag scope_off is set")
		return
	}
	b.Cleanup(func() {
		err := scope.Stop()
		d, readErr := readDurations(path)
		_ = os.Remove(path) // so long as the benchmark runs on, its directory stays
		if err == nil {
			err = readErr
		}
		if err != nil {
			b.Errorf("scopetest: no metrics of scopes: %v", err)
			return
		}
		d.report(b.ReportMetric)
	})
}

// report tells the metrics of each name.
func (d *durations) report(metric func(n float64, unit string)) {
	for name, list := range d.ns {
		slices.Sort(list)
		metric(quantile(list, 0.5), unitOf(name)+"-p50-ns")
		metric(quantile(list, 0.99), unitOf(name)+"-p99-ns")
	}
	if d.lost > 0 {
		metric(float64(d.lost), "lost-scopes")
	}
}

// quantile is the smallest that so many of all do not exceed, as scopeview top has it.
func quantile(sorted []int64, q float64) float64 {
	return float64(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)])
}

// unitOf is a name as the begin of a unit. benchstat takes what is behind a slash for what it
// is divided by.
func unitOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
}
