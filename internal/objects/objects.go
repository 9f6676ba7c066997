// Package objects tells what an object is called that goroutines wait for, by the source of
// the calls that wait for it: a lock that has no name, a channel, a WaitGroup. A trace knows
// the places of such calls. An object has one name for all of them and for all its instances,
// as the source has it: its package, its type and its field, as in nats.client.mu.
//
// # Design
//
//  1. Nothing is guessed. Where the source is not found, was changed, can't be read without
//     doubt, or has calls for two objects on the line, the place keeps its own name.
//  2. A package is read alone, by go/parser and go/types: of its directory those files that a
//     build has. Other packages are empty, but for the locks of sync and scope, so that what
//     comes from them has no name.
//  3. The source may be a stranger's. How much is read, how deep it nests and how long it
//     takes has limits.
package objects

import (
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostPackages is how many packages are remembered; beyond that all are forgotten.
const mostPackages = 256

// Namer names objects by the places where they are waited for.
type Namer struct {
	sources  *symbols.Sources
	system   system
	packages map[string][]*waits // by directory: a package, perhaps with its tests, and they alone
	count    int                 // of packages
	took     time.Duration       // reading them
}

// By returns a function that names the objects of places of t by sources.
func By(t *trace.Trace, sources *symbols.Sources) func([]trace.Place) []trace.Object {
	n := &Namer{
		sources:  sources,
		system:   system{t.Lookup("os"), t.Lookup("arch")},
		packages: map[string][]*waits{},
	}
	return n.names
}

func (n *Namer) names(places []trace.Place) []trace.Object {
	list := make([]trace.Object, len(places))
	for i := range places {
		list[i] = n.name(&places[i])
	}
	return list
}

// name names what is waited for at a place.
func (n *Namer) name(p *trace.Place) trace.Object {
	cut := strings.LastIndexAny(p.File, `/\`) + 1
	dir, base := p.File[:cut], p.File[cut:]
	var w *waits
	for _, x := range n.packages[dir] {
		if x.files[base] != nil {
			w = x
		}
	}
	if w == nil {
		w = n.load(p.File, base)
		if n.count++; n.count > mostPackages {
			clear(n.packages)
			n.count = 1
		}
		n.packages[dir] = append(n.packages[dir], w)
	}
	return trace.Object{Name: w.at(base, p.Line, p.Function, p.Kind), Key: dir}
}

// waits are the calls of a package that can wait, by file and line.
type waits struct {
	files map[string]map[int][]call
}

// nothing are those of a file of which nothing is known.
func nothing(base string) *waits { return &waits{map[string]map[int][]call{base: {}}} }

// call is a call, or another operation, that can wait.
type call struct {
	object string // its name; "": it is not known
	in     string // the function that it is written in, such as (*client).flush
	lock   bool   // it is for a lock
	other  bool   // it is for something else
}

// at returns the name of what is waited for on a line of a function, "" where that is not
// certain.
func (w *waits) at(base string, line int, function string, kind format.LockKind) string {
	lock := kind == format.LockMutex || kind == format.LockRWMutex
	name := ""
	for _, c := range w.files[base][line] {
		switch {
		case !within(function, c.in), lock && !c.lock, !lock && !c.other:
		case c.object == "", name != "" && name != c.object:
			return ""
		default:
			name = c.object
		}
	}
	return name
}

// within reports whether a function, as the linker calls it, is one of the source, or is
// written in it. Where that was inlined, the name of a function in it has both.
func within(function, source string) bool {
	depth := 0
	function = strings.Map(func(r rune) rune { // without the types that it was made for
		switch r {
		case '[':
			depth++
		case ']':
			depth--
			return -1
		}
		if depth > 0 {
			return -1
		}
		return r
	}, function)
	function = strings.ReplaceAll(function, "-range", ".range") + "."
	return strings.Contains(function, "."+source+".")
}
