// Package source compares a profile with the current source: it checks which edges still match,
// and adapts the others to the source.
//
// # Design
//
//  1. Go's compiler finds a call of a profile by three things: the caller's name, the callee's
//     name, and how many lines after the caller's first line the call is. It reports nothing
//     when one of them has changed. Load reads the source with go/types and gives functions
//     the compiler's names: closures are numbered in the order in which the compiler reads
//     them.
//  2. Check judges each edge. An edge is found if its line has a call that can reach its callee:
//     directly, through an interface, or through a func value. The rules for the latter two
//     are the compiler's. Edges that it can never match are distinguished from lost ones:
//     calls that it inserts itself, deferred calls, closures of inlined functions, wrappers of
//     methods, assembly.
//  3. Salvage aligns, function by function, the calls of a profile with the calls of
//     the source, as LLVM does for stale profiles. Functions that are gone are matched with
//     new ones by name, by what they call, and by where they are called.
//  4. Salvage changes an edge only into one that Check finds. Otherwise the edge stays as it
//     was, or is left out if its name is another function's now.
//  5. Names of generic functions have the underlying types of their type arguments. If a
//     call does not determine them, any are accepted as found and none are written.
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
