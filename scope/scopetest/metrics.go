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

// metricsLimit is the largest size of a benchmark's trace: some 8 million scopes.
const metricsLimit = 256 << 20

// Metrics makes a benchmark report the median and the 99th percentile of the durations of
// scopes with these names, as the metrics NAME-p50-ns and NAME-p99-ns. Names are globs, as for
// scope.SetFilter; without names, all scopes are reported. Spaces and slashes in a name become
// underscores, because a unit can't contain them.
//
// Call it first; it records until the benchmark's cleanups. Starting and reading the recording
// is not part of the measured time, but the scopes are: one takes some 30 ns, and one of
// another name some 5. Scopes that did not end, and waits, are not counted. Scopes beyond the
// first 8 million or so are dropped, and counted by the metric lost-scopes.
//
// If a recording is running already, as with -scope, Metrics only logs that, and reports
// nothing.
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
		_ = os.Remove(path) // the directory remains as long as the benchmark runs
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

// report reports the metrics of each name.
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

// quantile returns the smallest value that a share q of all do not exceed, as scopeview top
// does.
func quantile(sorted []int64, q float64) float64 {
	return float64(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)])
}

// unitOf converts a name to the beginning of a unit. benchstat takes what follows a slash for
// the denominator.
func unitOf(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
}
