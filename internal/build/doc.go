// Package build has the go command build a program that records, of source that nobody has
// changed.
//
// # Design
//
// Nothing of the user's is written. The go command gets -overlay, which says which files are
// to be read in the place of which:
//
//   - files of the packages that are traced, edited by internal/build/instrument, and one
//     file more in each, with the table of its functions;
//   - files of the standard library with hooks, from internal/build/std;
//   - go.mod and go.sum, which name one module more: the recorder. In a workspace those of
//     one of its modules. So go vet, go list and go test see the same program.
//
// The recorder is a module without requirements, made once per version of the tool out of
// the tool itself (package scopeview at the root) and of the few packages that it needs,
// which lie in it under other import paths. So the versions of the program's modules stay
// what they are. It says that it is for the oldest Go, or the go line of the program's go.mod
// would be too low; each of its files says by its build constraint for which it is.
//
// What is made lies in a cache, by what is in it: a file that is there is whole, and never
// changes. A plan says what a command line comes to. It is used again as long as all that
// it was made from has the size and the time that it had. Then what was built by it last is
// what the go command would build, if the version control says what it said, and that is not
// called. Packages whose texts are as they were are not edited again.
//
// # What the go command demands
//
//   - -modfile is refused in workspaces; an overlay of go.mod is not.
//   - Files beneath GOMODCACHE must not be replaced. Modules that are to be traced are
//     copied, and replaced in go.mod. A toolchain that lies there gets a GOROOT of links.
//   - With a vendor directory go.mod may have no module that vendor/modules.txt lacks, and
//     that file is read past the overlay: so -mod=readonly, and modules from their cache.
//   - Assembly is assembled in the directory of its package, which must exist: the recorder
//     can't be in the overlay itself.
package build
