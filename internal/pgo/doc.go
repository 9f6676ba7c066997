// Package pgo reads, writes and merges profiles as Go's compiler reads them with go build
// -pgo, and computes what the compiler makes of them.
//
// # Design
//
//  1. Of a stack the compiler reads the two innermost locations (internal/profile/graph.go of
//     Go's source): the leaf, and the location of its call. A Profile keeps these, so its size
//     depends on the program and not on the time that was sampled. Inlined calls are in a location.
//  2. The compiler turns these into edges: caller, callee, and how many lines after
//     the caller's first line the call is. Edges follows that computation in all rules; a
//     test compares it with go tool preprofile.
//  3. Files are read as streams, since they can be larger than memory. Nothing in them is
//     trusted as a length.
package pgo
