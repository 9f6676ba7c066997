// Package scopetest records tests. A package whose TestMain is
//
//	func TestMain(m *testing.M) { scopetest.Main(m, gotrace.With()) }
//
// has two flags more. This leaves a trace of each package whose tests fail:
//
//	go test ./... -scope $PWD/traces
//
// Without the flag nothing is recorded, and what the functions here do beyond package testing
// is a load and a branch.
//
// A test that begins with Run has a row and a scope of its own, in which its result is:
//
//	func TestTransfer(t *testing.T) {
//		ctx := scopetest.Run(t)
//		scopetest.Parallel(t) // t.Parallel, with the time that it waits
//
// scopeview test does all this to programs that do not import this package. Where both do, it
// is done once.
//
// # Benchmarks
//
// Metrics has a benchmark report what its scopes take, at the median and at the 99th percentile:
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
// Metrics reads its trace here, not by the reader of the tools: that needs libraries which the
// tests of others should not. What it reads was closed by the same process a moment ago, so
// there is little that it has to expect.
package scopetest
