package analysis

import (
	"math"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Instants are the events, or the pending events, that share a name.
type Instants struct {
	Name        uint16
	Kind        format.Kind // KindEvent, KindPending
	Count       int64
	Announced   int64 // pending ones that have not happened
	First, Last int64 // ns; of those that happened
}

func (i *Instants) add(e *trace.Event) {
	if e.Open {
		i.Announced++
		return
	}
	if i.Count == 0 {
		i.First = e.Start
	}
	i.Count++
	i.Last = e.Start
}

// Counter has the statistics of a counter's values.
type Counter struct {
	Name           uint16
	Count          int64
	Min, Max, Last float64
}

func (c *Counter) add(e *trace.Event) {
	v := counterValue(e)
	if c.Count == 0 {
		c.Min, c.Max = v, v
	}
	c.Count++
	c.Min, c.Max, c.Last = min(c.Min, v), max(c.Max, v), v
}

// counterValue converts a counter's bits according to its type.
func counterValue(e *trace.Event) float64 {
	switch e.ValueType {
	case format.SlotInt:
		return float64(int64(e.Value))
	case format.SlotFloat:
		return math.Float64frombits(e.Value)
	}
	return float64(e.Value)
}
