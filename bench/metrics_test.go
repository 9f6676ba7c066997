package main

import (
	"flag"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopetest"
)

// TestMetricsForBenchstat: what a benchmark reports of its scopes is read, and is taken for times.
func TestMetricsForBenchstat(t *testing.T) {
	defer flag.Set("test.benchtime", flag.Lookup("test.benchtime").Value.String())
	flag.Set("test.benchtime", "1000x")
	r := testing.Benchmark(func(b *testing.B) {
		scopetest.Metrics(b, "parse", "GET*")
		for b.Loop() {
			scope.Task("parse")()
			scope.Task("GET /users/{id}")()
		}
	})
	text := benchfmt.NewReader(strings.NewReader("BenchmarkLoad-2\t"+r.String()+"\n"), "test")
	if !text.Scan() {
		t.Fatalf("benchstat does not read %q: %v", r, text.Err())
	}
	line, ok := text.Result().(*benchfmt.Result)
	if !ok {
		t.Fatalf("benchstat reads %q as %v", r, text.Result())
	}
	for _, unit := range []string{"parse-p50-", "parse-p99-", "GET__users_{id}-p50-", "GET__users_{id}-p99-"} {
		v, ok := line.Value(unit + "sec")
		if want := r.Extra[unit+"ns"]; !ok || want == 0 || v < want*0.999e-9 || v > want*1.001e-9 {
			t.Errorf("%ssec is %v, want that of %v ns", unit, v, want)
		}
	}
}
