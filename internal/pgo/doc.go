// Package pgo has profiles as Go's compiler reads them with go build -pgo: it reads and
// writes them, merges them, and knows what the compiler makes of them.
//
// # Design
//
//  1. Of a stack the compiler reads the two innermost places (internal/profile/graph.go of
//     Go's source): the leaf, and where it was called. A Profile keeps these, so its size
//     follows the program and not the time that was sampled. Inlined calls are in a place.
//  2. What the compiler makes of that are edges: caller, callee, and how many lines behind
//     the caller's first line the call is. Edges is that computation, to the last rule; a
//     test compares it with go tool preprofile.
//  3. Files are read as streams, since they can be larger than memory. Nothing in them is
//     trusted as a length.
package pgo
