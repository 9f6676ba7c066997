package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/advice"
)

// Place is where something is made, or grows first.
type Place struct {
	Func string // as the runtime calls it: "main.(*T).grow.func1"
	File string
	Line int
	Kind Kind
	Type string // the map's, or of a slice's or channel's elements, as the runtime calls it; "": not known
}

// Kind is what is made.
type Kind uint8

// The kinds.
const (
	sliceKind Kind = iota
	mapKind
	chanKind
)

// kindOf is the kind of what a diagnostic is of.
func kindOf(id string) Kind {
	switch {
	case strings.HasPrefix(id, "map-"):
		return mapKind
	case strings.HasPrefix(id, "chan-"):
		return chanKind
	}
	return sliceKind
}

// placeOf is where a finding is.
func placeOf(f *advice.Finding) (Place, error) {
	p := Place{Type: f.Type, Kind: kindOf(f.ID)}
	name, at, _ := strings.Cut(f.Site, " ")
	colon := strings.LastIndexByte(at, ':')
	if colon < 0 {
		return p, fmt.Errorf("%q names no line of a file", f.Site)
	}
	p.Func, p.File = name, at[:colon]
	var err error
	if p.Line, err = strconv.Atoi(at[colon+1:]); err != nil {
		return p, fmt.Errorf("%q names no line of a file", f.Site)
	}
	return p, nil
}

// is reports whether a function that is declared in a file may be the one of a name of the runtime's:
// that of a closure in it has its name, too, and those of type parameters are left out.
func is(declared, name string) bool {
	for {
		from, to := strings.IndexByte(name, '['), strings.IndexByte(name, ']')
		if from < 0 || to < from {
			break
		}
		name = name[:from] + name[to+1:]
	}
	for part := range strings.SplitSeq(name[strings.LastIndexByte(name, '/')+1:], ".") {
		if part, _, _ := strings.Cut(part, "-range"); part == declared {
			return true
		}
	}
	return false
}
