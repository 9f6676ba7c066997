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
package scopetest
