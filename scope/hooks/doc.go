// Package hooks is linked into the programs that scopeview run, build and test instrument. It
// is not meant to be called by hand.
//
// A program's functions are a table of Func for each package, and each function begins with
//
//	if h := functions[17].Enter(); h.Loc != 0 {
//		defer h.End()
//	}
//
// The recording begins while the program's packages are initialized, if the environment asks
// for it: SCOPEVIEW, SCOPEVIEW_FILTER, SCOPEVIEW_RING, SCOPEVIEW_BUFFER and SCOPEVIEW_LIMIT
// have the meaning that they have for scope/auto. Further variables:
//
//   - SCOPEVIEW_STATES=0 does not record Go's execution trace, which is recorded by default, as
//     by gotrace.With;
//   - SCOPEVIEW_BUDGET=3% is the share of the program's CPU time that recording may take.
//     Functions that would take more are only counted, not recorded, until they are called
//     less often;
//   - SCOPEVIEW_PROPAGATE=1 adds the header traceparent to requests that serve another request,
//     so that what their receivers record is linked to it;
//   - SCOPEVIEW_TEST=1 does not record processes that go test has not started itself: tests
//     that tests start, and the workers of a fuzz test;
//   - SCOPEVIEW_KEEP=failures removes the trace of a program whose exit code is
//     0.
//
// If the program starts a recording itself, the one from the environment ends and its trace is
// removed.
//
// The standard library of such a program reports waits, created goroutines, requests and tests
// to this package, through function variables. A file that the build adds sets these
// variables; other builds do not have it.
package hooks
