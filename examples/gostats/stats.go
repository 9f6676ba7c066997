package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"sync"

	"github.com/scopeview/scopeview/scope"
)

// top is the length of the lists in the summary.
const top = 10

// stats is shared by the workers.
type stats struct {
	mu       sync.Mutex
	files    int
	broken   int            // files that are not correct Go
	kinds    map[string]int // declarations by kind
	idents   map[string]int // identifiers by name
	packages map[string]size
	largest  []string // packages, the largest first
	err      error    // the first file that could not be read
}

// size is the size of a package's files.
type size struct{ files, bytes, packed int }

func (s size) plus(t size) size {
	return size{s.files + t.files, s.bytes + t.bytes, s.packed + t.packed}
}

func newStats() *stats {
	return &stats{kinds: make(map[string]int), idents: make(map[string]int), packages: make(map[string]size)}
}

// count adds the declarations and identifiers of a file; nil represents a file that is not
// correct Go. It walks the file while it holds the lock, which is simple and looks harmless;
// a trace shows its cost.
func (s *stats) count(f *ast.File) {
	defer scope.Task("count")()
	defer scope.Lock(&s.mu, "stats.mu")()
	s.files++
	scope.Counter("files", s.files)
	if f == nil {
		s.broken++
		return
	}
	for _, d := range f.Decls {
		s.countDecl(d)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			s.idents[id.Name]++
		}
		return true
	})
}

func (s *stats) countDecl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			s.kinds["method"]++
		} else {
			s.kinds["func"]++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec: // "var a, b int" declares two
				s.kinds[d.Tok.String()] += len(spec.Names)
			default:
				s.kinds[d.Tok.String()]++
			}
		}
	}
}

// merge adds a worker's sizes and updates the list of the largest packages, so that it is
// always available.
func (s *stats) merge(sizes map[string]size) {
	defer scope.Task("merge", scope.KV("packages", len(sizes)))()
	defer scope.Lock(&s.mu, "stats.mu")()
	for dir, n := range sizes {
		s.packages[dir] = s.packages[dir].plus(n)
	}
	s.largest = leading(s.packages, func(n size) int { return n.bytes })
}

// fail stores the first error.
func (s *stats) fail(err error) {
	defer scope.Lock(&s.mu, "stats.mu")()
	if s.err == nil {
		s.err = err
	}
}

// total sums the packages.
func (s *stats) total() (sum size) {
	for _, n := range s.packages {
		sum = sum.plus(n)
	}
	return sum
}

// leading returns the keys with the greatest values, in that order.
func leading[V any](m map[string]V, value func(V) int) []string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(value(m[b]), value(m[a])), cmp.Compare(a, b))
	})
	return keys[:min(len(keys), top)]
}

// kindOrder is the order of kinds in the summary.
var kindOrder = []string{"func", "method", token.TYPE.String(), token.CONST.String(), token.VAR.String(), token.IMPORT.String()}
