package requests

import (
	"strings"
	"sync"
	"sync/atomic"
)

// Bounded makes names of what somebody else chooses: the first thousand are kept, and what
// comes later, or is very long, has the name Other.
type Bounded struct {
	Prefix string // of each name
	Other  string
	known  sync.Map // string to string
	n      atomic.Int64
}

const maxBounded = 256 // bytes of a text that is no mistake

// Of is the name of a text.
func (t *Bounded) Of(text string) string {
	if name, ok := t.known.Load(text); ok {
		return name.(string)
	}
	if len(text) > maxBounded || t.n.Load() >= maxNames || t.n.Add(1) > maxNames {
		return t.Prefix + t.Other
	}
	text = strings.Clone(text) // it may be a piece of something large
	name, _ := t.known.LoadOrStore(text, t.Prefix+text)
	return name.(string)
}
