package requests

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Bounded turns texts chosen by others into a limited set of names. The first thousand
// texts become names with Prefix; later ones, and very long ones, become Prefix and Other.
type Bounded struct {
	Prefix string // of each name
	Other  string
	known  sync.Map // string to string
	n      atomic.Int64
}

const maxBounded = 256 // bytes; a longer text is not meant as a name

// Of returns the name of a text.
func (t *Bounded) Of(text string) string {
	if name, ok := t.known.Load(text); ok {
		return name.(string)
	}
	if len(text) > maxBounded || t.n.Load() >= maxNames || t.n.Add(1) > maxNames {
		return t.Prefix + t.Other
	}
	text = strings.Clone(text) // it may be part of a larger string
	name, _ := t.known.LoadOrStore(text, t.Prefix+text)
	return name.(string)
}
