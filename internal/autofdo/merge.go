package autofdo

import (
	"errors"
	"fmt"
)

// Merged reports what a merge could not keep.
type Merged struct {
	Saturated int      // number of counts that saturated at 18446744073709551615
	Dropped   []string // functions whose code differs, by their checksums: into's are kept
}

// ErrKinds reports that two profiles are of kinds that can't be combined.
var ErrKinds = errors.New("the profiles are of different kinds")

// sameKind returns an error that wraps ErrKinds if LLVM does not accept two profiles
// together.
func sameKind(a, b *Profile) error {
	switch {
	case len(a.Functions) == 0 || len(b.Functions) == 0:
	case a.probes() != b.probes():
		return fmt.Errorf("%w: one is of pseudo probes (it has !CFGChecksum), the other is of lines", ErrKinds)
	case a.contexts() != b.contexts():
		return fmt.Errorf("%w: one has functions with contexts ([main:3 @ f]), the other has them without", ErrKinds)
	}
	return nil
}

// Merge adds from, times weight, to into, as llvm-profdata merge -weighted-input does. The
// error wraps ErrKinds.
func Merge(into, from *Profile, weight uint64) (Merged, error) {
	var m Merged
	if err := sameKind(into, from); err != nil {
		return m, err
	}
	for _, f := range from.Sorted() {
		old, known := into.Functions[f.Name]
		if !known {
			old = into.function(f.Name)
		}
		m.function(old, f, weight, !known)
	}
	return m, nil
}

func (m *Merged) function(into, from *Function, weight uint64, fresh bool) {
	if fresh {
		into.Attributes = from.Attributes
	}
	if into.Checksum == 0 {
		into.Checksum = from.Checksum
	} else if into.Checksum != from.Checksum {
		m.Dropped = append(m.Dropped, from.Name)
		return
	}
	m.add(&into.Total, from.Total, weight)
	m.add(&into.Head, from.Head, weight)
	for _, at := range from.SortedLines() {
		l, other := into.line(at), from.Lines[at]
		m.add(&l.Samples, other.Samples, weight)
		for name, n := range other.Targets {
			if l.target(name, n, weight) {
				m.Saturated++
			}
		}
	}
	locs, callees := from.SortedInlined()
	for i, callee := range callees {
		fresh := into.Inlined[locs[i]][callee.Name] == nil
		m.function(into.inlined(locs[i], callee.Name), callee, weight, fresh)
	}
}

func (m *Merged) add(to *uint64, n, weight uint64) {
	if add(to, n, weight) {
		m.Saturated++
	}
}
