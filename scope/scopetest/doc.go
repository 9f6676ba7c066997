// Package scopetest records tests. A package whose TestMain is
//
//	func TestMain(m *testing.M) { scopetest.Main(m, gotrace.With()) }
//
// has two more flags, -scope and -scope-keep. This leaves a trace of each package whose tests
// fail:
//
//	go test ./... -scope $PWD/traces
//
// Without the flag nothing is recorded, and the functions here add a load and a branch to those
// of package testing.
//
// A test that begins with Run has a row and a scope of its own, which holds its result:
//
//	func TestTransfer(t *testing.T) {
//		ctx := scopetest.Run(t)
//		scopetest.Parallel(t) // t.Parallel, with the time that it waits
//
// scopeview test does all this for programs that do not import this package. With both, it is
// done once.
//
// # Benchmarks
//
// Metrics makes a benchmark report the median and the 99th percentile of its scopes' durations:
//
//	func BenchmarkLoad(b *testing.B) {
//		scopetest.Metrics(b, "parse", "encode")
//
// Their units end in -ns, which benchstat shows as times:
//
//	BenchmarkLoad-8   4012   297344 ns/op   81920 parse-p50-ns   140911 parse-p99-ns
//
// # Design
//
// Metrics has a trace reader of its own: the tools' reader imports libraries that other people's
// tests should not need. It can be simple, because the same process has just written and closed
// the trace.
package scopetest
