package verify

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/advice"
)

// Place is the place where an object is made, or first grows.
type Place struct {
	Func string // the runtime's name: "main.(*T).grow.func1"
	File string
	Line int
	Kind Kind
	Type string // the map's, or that of a slice's or channel's elements, by the runtime's name; "": unknown
}

// Kind is the kind of object.
type Kind uint8

// The kinds.
const (
	sliceKind Kind = iota
	mapKind
	chanKind
)

// kindOf returns the kind of a diagnostic's objects.
func kindOf(id string) Kind {
	switch {
	case strings.HasPrefix(id, "map-"):
		return mapKind
	case strings.HasPrefix(id, "chan-"):
		return chanKind
	}
	return sliceKind
}

// placeOf returns the place of a finding.
func placeOf(f *advice.Finding) (Place, error) {
	p := Place{Type: f.Type, Kind: kindOf(f.ID)}
	name, at, _ := strings.Cut(f.Site, " ")
	colon := strings.LastIndexByte(at, ':')
	if colon < 0 {
		return p, fmt.Errorf("%q does not name a line of a file", f.Site)
	}
	p.Func, p.File = name, at[:colon]
	var err error
	if p.Line, err = strconv.Atoi(at[colon+1:]); err != nil {
		return p, fmt.Errorf("%q does not name a line of a file", f.Site)
	}
	return p, nil
}

// is reports whether a function declared in a file may have the runtime's name: a closure's
// name includes that of its function, and type parameters are ignored.
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
