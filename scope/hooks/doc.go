// Package hooks is what scopeview run, build and test put into a program that they
// instrument. There is nothing in it to call by hand.
//
// A program's functions are a table of Func for each package, and each function begins
// with
//
//	if h := functions[17].Enter(); h.Loc != 0 {
//		defer h.End()
//	}
//
// The recording begins as the program's packages are initialized, if the environment
// says so: SCOPEVIEW, SCOPEVIEW_FILTER, SCOPEVIEW_RING, SCOPEVIEW_BUFFER and SCOPEVIEW_LIMIT
// are what they are for scope/auto. Beyond that
//
//   - SCOPEVIEW_STATES=0 leaves Go's execution trace alone, which is recorded else, as
//     gotrace.With does;
//   - SCOPEVIEW_BUDGET=3% is the share of the program's CPU time that recording may take.
//     Functions that would take more are counted, and not recorded, until they calm
//     down;
//   - SCOPEVIEW_PROPAGATE=1 sends the header traceparent with requests of a request, so that
//     what their receivers record is a part of it too;
//   - SCOPEVIEW_TEST=1 leaves alone what go test has not begun itself: tests that are begun by
//     tests, and what generates inputs for a fuzz test;
//   - SCOPEVIEW_KEEP=failures removes the trace of a program that ends with the exit code
//     0.
//
// A program that starts a recording itself gets it: the one of the environment ends, and
// its trace is removed.
//
// The standard library of such a program tells this package of waits, of goroutines that are
// made, of requests and of tests, by variables that a file sets which is added to it when the
// program is built. In any other build that file is not there, and nothing is told.
package hooks
