package excerpt

import (
	"maps"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// alive is a goroutine when the first generation begins that is in.
type alive struct {
	made gotrace.Transition // its creation; To is Unknown if that is not known
	now  gotrace.Transition // the begin of its state
	seen uint32             // its last known stack, which shows whose goroutine it is
}

// follow notes a change of state in an earlier generation. The generations that are in have the later ones, and
// only the state, without its reason, of a goroutine to which nothing happens.
func (m *maker) follow(_ *states.Facts, tr *gotrace.Transition) {
	m.followed = m.followed || tr.Time > m.to || m.generations[generationID{tr.Stream, tr.Generation}] || len(m.t.Processes()) > 0
	if m.followed {
		return
	}
	g := m.goroutines[tr.Goid]
	if tr.To == gotrace.NotExist {
		delete(m.goroutines, tr.Goid)
		return
	}
	if g == nil {
		g = &alive{}
		m.goroutines[tr.Goid] = g
	}
	if tr.From == gotrace.NotExist {
		g.made = *tr
	}
	stack := tr.Stack
	if tr.To == gotrace.Runnable && tr.From == gotrace.Waiting {
		stack = g.now.Stack // a woken goroutine is still where it waited
	}
	if g.now = *tr; stack != 0 {
		g.seen = stack
	}
	if g.now.Stack = stack; tr.To == gotrace.Running {
		g.now.Stack = g.seen
	}
}

// addGoroutines writes those goroutines, and their stacks.
func (m *maker) addGoroutines(w *blockWriters) error {
	s := stackWriter{w: w, m: m, stacks: map[uint32]uint32{}, frames: map[symbols.Frame]uint32{}, stack: format.StackIDs, frame: format.PlaceFrames}
	for _, id := range slices.Sorted(maps.Keys(m.goroutines)) {
		x := m.goroutines[id]
		g := format.Goroutine{
			ID: id, Created: -1, Since: max(x.now.Time, 0), Thread: x.now.Thread, Proc: x.now.Proc, State: uint16(x.now.To), Stack: s.id(x.now.Stack), Reason: x.now.Reason,
		}
		if x.made.To != gotrace.Unknown {
			g.Creator, g.Created, g.Site, g.Start = x.made.By, max(x.made.Time, 0), s.id(x.made.ByStack), s.id(x.made.Stack)
		}
		if s.err == nil {
			s.err = w.add(format.BlockGoroutine, format.AppendGoroutine(nil, &g))
		}
	}
	return s.err
}

// stackWriter writes stacks of Go's execution trace as blocks. Their ids, and those of their frames,
// are the highest that are free.
type stackWriter struct {
	w      *blockWriters
	m      *maker
	stacks map[uint32]uint32 // by id in the Go execution trace
	frames map[symbols.Frame]uint32
	stack  uint32 // the last id
	frame  uint32
	err    error
}

// id returns a stack's id, and writes the stack if it is new; 0: there is none, or no id is free.
func (s *stackWriter) id(of uint32) uint32 {
	if id, ok := s.stacks[of]; ok || of == 0 {
		return id
	}
	list := s.m.facts.Stack(of)
	x := format.Stack{Frames: make([]uint32, 0, len(list))}
	for _, f := range list[:min(len(list), s.m.share(format.MaxStackFrames))] {
		x.Frames = append(x.Frames, s.frameID(f))
	}
	for s.stack--; s.m.used.stacks[s.stack]; s.stack-- {
	}
	if x.ID = s.stack; len(x.Frames) == 0 || s.stack < format.CodeStacks || s.frame < format.CodeFrames || s.err != nil {
		s.stack++
		return 0
	}
	s.stacks[of] = x.ID
	s.err = s.w.add(format.BlockStack, format.AppendStack(nil, &x))
	return x.ID
}

func (s *stackWriter) frameID(f *symbols.Frame) uint32 {
	key := symbols.Frame{Func: f.Func, File: f.File, Line: f.Line}
	if id, ok := s.frames[key]; ok {
		return id
	}
	for s.frame--; s.m.used.frames[s.frame]; s.frame-- {
	}
	s.frames[key] = s.frame
	if s.err == nil {
		s.err = s.w.add(format.BlockFrame, format.AppendFrame(nil, &format.Frame{ID: s.frame, Function: f.Func, File: f.File, Line: uint32(f.Line)}))
	}
	return s.frame
}
