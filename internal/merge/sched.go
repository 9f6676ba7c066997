package merge

import (
	"errors"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// partSize is the number of bytes of a Go execution trace in one block.
const partSize = 32 << 10

// mostSwitches is the largest number of switches in one block: it fits a chunk however far apart
// they are.
const mostSwitches = 4096

// readStates reads the states of the input's goroutines, for the CPU times of its scopes. It finds
// which of the input's Go execution traces are its own.
func (c *converter) readStates() error {
	t := c.in.t
	f, err := states.EachOf(t, states.CPUTimes(t))
	if errors.Is(err, gotrace.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(f.Info.Foreign) > 0 {
		c.in.foreign = f.Problems
	}
	c.sched = format.Sched{
		First: c.streams + 1, Mono: t.Header().StartMono, End: t.End(), Same: gotrace.SameClock(t), Made: t.Lookup(gotrace.FactMade) != "", Why: f.SwitchesWhy,
	}
	for _, g := range gotrace.Streams(t) {
		if !slices.Contains(f.Info.Foreign, g.Stream) {
			c.streams++
			c.sched.Streams++
			c.goTraces = append(c.goTraces, g)
		}
	}
	return nil
}

// states writes the Go execution traces of the input, and its threads' switches.
func (c *converter) states() error {
	if c.goTraces == nil {
		return nil
	}
	for i := range c.goTraces {
		if err := c.goTrace(&c.goTraces[i], c.sched.First+uint32(i)); err != nil {
			return err
		}
	}
	c.sched.Number = c.in.number
	c.w.Block(format.BlockSched, format.AppendSched(nil, &c.sched))
	return c.in.t.EachSwitches(func(s *format.Switches) bool {
		c.switches(s)
		return true
	})
}

// goTrace writes a Go execution trace. Missing parts stay missing.
func (c *converter) goTrace(g *trace.GoTrace, stream uint32) error {
	r, part, seq := g.Reader(), make([]byte, partSize), uint32(0)
	for {
		n, err := io.ReadFull(r, part)
		if n > 0 {
			c.w.Block(format.BlockGoTrace, format.AppendGoTrace(nil, stream, seq, part[:n]))
			seq++
		}
		switch {
		case g.Missing && err == io.EOF, g.Missing && err == io.ErrUnexpectedEOF:
			c.w.Block(format.BlockGoTrace, format.AppendGoTrace(nil, stream, seq+1, nil)) // behind a gap
			return nil
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// switches writes a block of switches, by the clock of the merged trace.
func (c *converter) switches(s *format.Switches) {
	at := func(mono int64) int64 { return max(c.in.at(mono-c.in.t.Header().StartMono)-startTicks, 0) }
	x := format.Switches{Thread: s.Thread, Process: uint16(c.in.number), First: s.First, Lost: s.Lost, On: s.On, Base: at(s.Base)}
	for _, w := range s.List {
		now := at(w.Time)
		if len(x.List) == mostSwitches {
			x.Until = now
			c.w.Block(format.BlockSwitch, format.AppendSwitches(nil, &x))
			x = format.Switches{Thread: x.Thread, Process: x.Process, On: x.List[mostSwitches-1].How == format.SwitchIn, Base: now, List: x.List[:0]}
		}
		x.List = append(x.List, format.Switch{Time: now, How: w.How})
	}
	x.Until = max(at(s.Until), x.Base)
	c.w.Block(format.BlockSwitch, format.AppendSwitches(nil, &x))
}
