//go:build !scope_off

package scopetest_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopetest"
)

// A benchmark reports the durations of its scopes along with go test's own
// metrics.
func ExampleMetrics() {
	flag.Set("test.benchtime", "100x")
	r := testing.Benchmark(func(b *testing.B) {
		scopetest.Metrics(b, "parse")
		for b.Loop() {
			scope.Task("parse")()
		}
	})
	p50, p99 := r.Extra["parse-p50-ns"], r.Extra["parse-p99-ns"]
	fmt.Println(len(r.Extra), p50 <= p99)
	// Output: 2 true
}
