// Package build makes the go command build a program that records, from unchanged source.
//
// # Design
//
// None of the user's files are written. The go command gets -overlay, which replaces files:
//
//   - files of the traced packages, edited by internal/build/instrument, and one
//     additional file in each, with the table of its functions;
//   - files of the standard library with hooks, from internal/build/std;
//   - go.mod and go.sum, with one more module: the recorder. In a workspace those of
//     one of its modules. So go vet, go list and go test see the same program.
//
// The recorder is a module without requirements, made once per version of the tool from the
// tool itself (package scopeview at the root) and the few packages that it needs, which it
// contains under other import paths. So the versions of the program's modules do not change.
// Its go.mod requires only the oldest Go, as otherwise the go line of the program's go.mod
// would be too low; each of its files has a build constraint with the Go version that it
// needs.
//
// Generated files are in a cache, by their content: an existing file is complete, and never
// changes. A plan is the result for a command line. It is reused as long as all of its
// inputs have the same size and time. Then, if the state of version control is the same too,
// the go command would build the last executable again, and is not called.
// Packages with unchanged texts are not edited again.
//
// # Requirements of the go command
//
//   - It rejects -modfile in workspaces, but accepts an overlay of go.mod.
//   - Files below GOMODCACHE must not be replaced. Traced modules there are
//     copied, and replaced in go.mod. A toolchain there gets a GOROOT of links.
//   - With a vendor directory go.mod must not have a module that vendor/modules.txt lacks, and
//     the overlay does not apply to that file: so -mod=readonly, and modules from their cache.
//   - Assembly is built in the directory of its package, which must exist: so the recorder
//     can't be in the overlay itself.
package build
