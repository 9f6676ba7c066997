package analysis

import (
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
)

// StateArgs makes the arguments of a stretch of a goroutine's time, the same in every
// export: "reason", Go's word for a wait, "at", the place of the goroutine, "by" and
// "by_at", the goroutine that woke it at the end and its place.
type StateArgs struct {
	places map[uint32]string // by stack
	list   []args.Arg
}

// List returns the arguments; they are valid until the next call.
func (a *StateArgs) List(f *states.Facts, v *states.Interval) []args.Arg {
	a.list = a.list[:0]
	a.text("reason", v.ReasonName)
	a.text("at", a.place(f, v.Stack))
	if v.By != 0 {
		a.list = append(a.list, args.Arg{Key: "by", Value: format.Slot{Type: format.SlotUint, Value: v.By}})
	}
	a.text("by_at", a.place(f, v.ByStack))
	return a.list
}

func (a *StateArgs) text(key, s string) {
	if s != "" {
		a.list = append(a.list, args.Arg{Key: key, Value: format.Slot{Type: format.SlotString, Str: []byte(s), Full: len(s)}})
	}
}

// place returns the program's first frame of a stack.
func (a *StateArgs) place(f *states.Facts, stack uint32) string {
	if a.places == nil {
		a.places = map[uint32]string{}
	}
	s, ok := a.places[stack]
	if !ok {
		s = firstFrame(f.Stack(stack))
		a.places[stack] = s
	}
	return s
}
