// Package objects names the objects that goroutines wait for, such as an unnamed lock, a
// channel or a WaitGroup, by the source of the calls that wait for them. A trace has the
// places of such calls. An object has one name for all of its places and for all its
// instances, from the source: its package, its type and its field, as in nats.client.mu.
//
// # Design
//
//  1. Nothing is guessed. If the source is not found, was changed, can't be read without
//     doubt, or has calls for two objects on the line, the place keeps its own name.
//  2. A package is read alone, by go/parser and go/types: of its directory those files that a
//     build includes. Other packages are empty, except for the locks of sync and scope, so
//     objects that come from them have no name.
//  3. The source is not trusted. How much is read, how deep it nests and how long it
//     takes has limits.
package objects

import (
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// mostPackages limits the cache of packages; beyond that it is cleared.
const mostPackages = 256

// Namer names objects by the places where they are waited for.
type Namer struct {
	sources  *symbols.Sources
	system   system
	packages map[string][]*waits // by directory: a package, perhaps with its tests, and an external test package
	count    int                 // number of packages
	took     time.Duration       // time spent reading them
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

// name names the object waited for at a place.
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

// waits holds the calls of a package that can wait, by file and line.
type waits struct {
	files map[string]map[int][]call
}

// nothing returns the waits of an unknown file.
func nothing(base string) *waits { return &waits{map[string]map[int][]call{base: {}}} }

// call is a call, or another operation, that can wait.
type call struct {
	object string // its name; "": unknown
	in     string // the function that contains it, such as (*client).flush
	lock   bool   // it is for a lock
	other  bool   // it is for something else
}

// at returns the name of the object waited for on a line of a function, or "" if that is
// uncertain.
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

// within reports whether function, a linker's name, is a function of the source, or one
// written in it. If that was inlined, the name of a function in it has both names.
func within(function, source string) bool {
	depth := 0
	function = strings.Map(func(r rune) rune { // removes type arguments
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
