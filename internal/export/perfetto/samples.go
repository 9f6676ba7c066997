package perfetto

import (
	"cmp"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// stacks holds the ids of the values that are interned for samples.
type stacks struct {
	ids       map[[2]uint32]uint64 // by Sample.Stack
	frames    map[*symbols.Frame]uint64
	functions map[string]uint64
	sources   map[string]uint64
	objects   map[string]uint64 // mappings, and their paths
}

// Sample implements rows.Sink.
func (s *writer) Sample(x *rows.Sample) {
	if s.stacks.ids == nil {
		s.stacks = stacks{map[[2]uint32]uint64{}, map[*symbols.Frame]uint64{}, map[string]uint64{}, map[string]uint64{}, map[string]uint64{}}
	}
	s.interned = s.interned[:0]
	id, ok := s.stacks.ids[x.Stack]
	if !ok {
		id = uint64(len(s.stacks.ids)) + 1
		s.stacks.ids[x.Stack] = id
		s.defineStack(id, x.Frames)
	}
	s.event = s.event[:0]
	if x.CPU >= 0 {
		s.event = appendVarint(s.event, sampleCPU, uint64(x.CPU))
	}
	s.event = appendVarint(s.event, samplePID, s.pid)
	s.event = appendVarint(s.event, sampleTID, uint64(x.Thread))
	s.event = appendVarint(s.event, sampleStack, id)
	s.emitAs(packetPerfSample, x.Time)
}

// defineStack defines a stack, whose outermost frame comes first.
func (s *writer) defineStack(id uint64, frames []*symbols.Frame) {
	stack := appendVarint(nil, internedID, id)
	for i := len(frames) - 1; i >= 0; i-- {
		stack = appendVarint(stack, stackFrame, s.frame(frames[i]))
	}
	s.interned = appendBytes(s.interned, internedStacks, stack)
}

// frame returns the id of a frame.
func (s *writer) frame(f *symbols.Frame) uint64 {
	id, ok := s.stacks.frames[f]
	if ok {
		return id
	}
	id = uint64(len(s.stacks.frames)) + 1
	s.stacks.frames[f] = id
	function, _ := s.once(s.stacks.functions, internedFunctions, f.Func)
	b := appendVarint(nil, internedID, id)
	b = appendVarint(b, frameFunction, function)
	b = appendVarint(b, frameMapping, s.mapping(f))
	b = appendVarint(b, framePC, f.PC)
	if f.File != "" {
		source, _ := s.once(s.stacks.sources, internedSources, rows.Base(f.File))
		b = appendVarint(b, frameSource, source)
	}
	if f.Line > 0 {
		b = appendVarint(b, frameLine, uint64(uint32(f.Line)))
	}
	s.interned = appendBytes(s.interned, internedFrames, b)
	return id
}

// mapping returns the id of the file with the frame's code.
func (s *writer) mapping(f *symbols.Frame) uint64 {
	object := cmp.Or(f.Object, s.program)
	if f.Func == samples.UnknownName && f.Object == "" {
		object = f.Func // the file is not known
	}
	id, fresh := s.once(s.stacks.objects, internedObjects, rows.Base(object))
	if fresh {
		m := appendVarint(appendVarint(nil, internedID, id), mappingPath, id)
		s.interned = appendBytes(s.interned, internedMappings, m)
	}
	return id
}

// once returns the id of a text, which is defined if it is new.
func (s *writer) once(known map[string]uint64, table protowire.Number, text string) (id uint64, fresh bool) {
	id, ok := known[text]
	if !ok {
		id = uint64(len(known)) + 1
		known[text] = id
		s.interned = appendInterned(s.interned, table, id, text)
	}
	return id, !ok
}

// Notes implements rows.Sink.
func (s *writer) Notes(list []string) {
	s.attributes([][2]string{{"samples", strings.Join(list, "; ")}})
}
