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
//  3. A Profile is no samples.Profile, which has whole stacks, and one name for all instances of a
//     generic function: the compiler needs the linker's names. OfSamples makes one from the other.
//     Files in pprof's format are not read by way of samples either: the compiler ignores a
//     profile's drop_frames, which samples obeys. The two share frames and locations.
//  4. A file is read as a whole, at most 1 GiB, by pprof's own package, and so is written. Nothing
//     in it is trusted as a length. Package export/pprof does not write these profiles: it keeps
//     neither which lines have one address, nor several first lines of a function.
package pgo
