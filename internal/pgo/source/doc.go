// Package source holds a profile against today's source: what of it still fits, and how what
// does not can be made to fit again.
//
// # Design
//
//  1. Go's compiler finds a call of a profile by three things: the caller's name, the callee's
//     name, and how many lines behind the caller's first line the call is. It says nothing when
//     one of them has changed. Load reads the source with go/types and gives functions the
//     names that the compiler gives them: closures are numbered in the order in which it
//     reads them.
//  2. Check judges each edge. An edge is found when a call is there that can reach its callee:
//     directly, through an interface, or through a func value. The rules for the two latter
//     are the compiler's. What it can never match is told apart from what was lost: calls that
//     it inserts itself, deferred calls, closures of inlined functions, wrappers of methods, assembly.
//  3. Salvage aligns, function by function, the calls that a profile knows with the calls of
//     the source, as LLVM does for stale profiles. Functions that are gone are matched with
//     new ones by name, by what they call, and by where they are called.
//  4. Salvage changes an edge only into one that Check finds. Otherwise it stays as it was, or
//     is left out where its name is by now another function's.
//  5. Names of generic functions have the underlying types of their type arguments. Where a
//     call does not tell them for certain, any are taken for found and none are written.
//
// # Files
//
//   - load.go: packages and their types; funcs.go: functions, closures, calls; names.go;
//     shapes.go: type arguments in names
//   - reach.go: whether a call can reach a function; wrappers.go; check.go and reason.go: Check
//   - rename.go: Rename
//   - salvage.go: Salvage; align.go: two sequences of calls; match.go, closures.go: functions
//     that are gone; rewrite.go: the new profile
package source
