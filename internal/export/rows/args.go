package rows

import (
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// arguments returns e's arguments, after these about the record itself:
//
//	open        true: begun and not ended; its end is the trace's, or its goroutine's (never_ended)
//	cpu_ns      its CPU time, exact or likely, if Lay's cpu is set
//	cpu_max_ns  an upper bound of its CPU time, if no more is known
//	ended_by    the number of the goroutine that ended it, if another
//	clock_step  true: the clock stepped meanwhile, so its duration is meaningless
//
// A program's own argument of such a name has #2 appended, whether or not ours is present:
// otherwise a reader would have to guess its origin.
func (l *layout) arguments(e *trace.Event) []args.Arg {
	own := l.list[:0]
	if e.Open {
		own = append(own, args.Arg{Key: "open", Value: format.Slot{Type: format.SlotBool, Value: 1}})
	}
	switch {
	case e.Open || e.Quality == format.Unknown:
	case e.Quality == format.AtMost:
		own = append(own, number("cpu_max_ns", e.CPU))
	case l.wantCPU:
		own = append(own, number("cpu_ns", e.CPU))
	}
	if e.EndGoid != 0 {
		own = append(own, number("ended_by", int64(e.EndGoid)))
	}
	if len(l.breaks) > 0 && l.breaks.Across(e) {
		own = append(own, args.Arg{Key: "clock_step", Value: format.Slot{Type: format.SlotBool, Value: 1}})
	}
	l.list = own
	list := l.lister.List(e)
	if len(own) == 0 && !slices.ContainsFunc(list, reserved) {
		return list
	}
	for _, a := range list {
		if key := a.Key; reserved(a) {
			for n := 2; a.Key == key || taken(list, a.Key); n++ {
				a.Key = key + "#" + strconv.Itoa(n)
			}
		}
		own = append(own, a)
	}
	l.list = own
	return own
}

func reserved(a args.Arg) bool {
	switch a.Key {
	case "open", "cpu_ns", "cpu_max_ns", "ended_by", "clock_step":
		return true
	}
	return false
}

func taken(list []args.Arg, key string) bool {
	return slices.ContainsFunc(list, func(a args.Arg) bool { return a.Key == key })
}

func number(key string, v int64) args.Arg {
	return args.Arg{Key: key, Value: format.Slot{Type: format.SlotInt, Value: uint64(v)}}
}
