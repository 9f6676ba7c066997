// Package check compares the advice on programs with a known problem to the time that
// following it saves. It has only tests.
//
// For each diagnostic testdata/ID has three programs: must has the problem, and must get the advice;
// silent looks like it, and must not get it; fixed is must with the advice followed, and prints the same.
//
//   - TestPrograms: must is advised, silent and fixed are not; of a few diagnostics, or of all
//   - TestAdviseCheck: compares the estimated gain to plain runs of must and fixed; make advise-check
package check
