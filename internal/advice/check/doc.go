// Package check holds the advice that is given of programs with a known problem against what following
// it gains. It has tests only.
//
// For each diagnostic testdata/ID has three programs: must has the problem, and must get the advice;
// silent looks like it, and must not get it; fixed is must with the advice followed, and prints the same.
//
//   - TestPrograms: must is advised, silent and fixed are not; of a few diagnostics, or of all
//   - TestAdviseCheck: the estimated gain is held against plain runs of must and fixed; make advise-check
package check
