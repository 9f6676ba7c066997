package gotrace

import (
	"encoding/binary"
	"strings"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/symbols"
)

// Limits of the stacks kept, some hundred megabytes at the very most. Programs have
// some thousands.
const (
	maxStacks = 1 << 17
	maxFrames = 1 << 18
	maxDepths = 1 << 23 // frames of all stacks together
)

// stackTable keeps each stack once, even if many generations have it.
type stackTable struct {
	stacks  [][]uint32 // the frames of each stack; [0] is none
	ids     map[string]uint32
	frame   []*symbols.Frame
	frameID map[exptrace.StackFrame]uint32
	depths  int
	refused int64 // stacks beyond the bounds

	off  bool // no stack is kept
	pcs  bool // frames have their PCs
	key  []byte
	list []uint32
	text map[string]string
}

func newStacks() *stackTable {
	return &stackTable{
		stacks: make([][]uint32, 1), ids: map[string]uint32{}, frameID: map[exptrace.StackFrame]uint32{},
		text: map[string]string{},
	}
}

// id returns the number of a stack, or 0 for one beyond the limits.
func (t *stackTable) id(s exptrace.Stack) uint32 {
	if t.off {
		return 0
	}
	return t.add(s)
}

func (t *stackTable) add(s exptrace.Stack) uint32 {
	t.key, t.list = t.key[:0], t.list[:0]
	parked := false
	for f := range s.Frames() {
		if parked = len(t.list) == 0 && (parked || f.Func == "runtime.gopark"); parked && parking[f.Func] {
			continue
		}
		id, ok := t.frameOf(f)
		if !ok {
			t.refused++
			return 0
		}
		t.key = binary.LittleEndian.AppendUint32(t.key, id)
		t.list = append(t.list, id)
	}
	n := WithoutBegin(len(t.list), func(i int) string { return t.frame[t.list[i]].Func })
	t.key, t.list = t.key[:4*n], t.list[:n]
	return t.number()
}

// number returns the number of the stack in list, whose key is set.
func (t *stackTable) number() uint32 {
	if len(t.list) == 0 {
		return 0
	}
	if id, ok := t.ids[string(t.key)]; ok {
		return id
	}
	if len(t.stacks) > maxStacks || t.depths+len(t.list) > maxDepths {
		t.refused++
		return 0
	}
	id := uint32(len(t.stacks))
	t.ids[string(t.key)] = id
	t.stacks = append(t.stacks, append([]uint32(nil), t.list...))
	t.depths += len(t.list)
	return id
}

func (t *stackTable) frameOf(f exptrace.StackFrame) (uint32, bool) {
	if !t.pcs {
		f.PC = 0
	}
	if id, ok := t.frameID[f]; ok {
		return id, true
	}
	if len(t.frame) >= maxFrames {
		return 0, false
	}
	f.Func, f.File = t.intern(f.Func), t.intern(f.File)
	id := uint32(len(t.frame))
	t.frame = append(t.frame, &symbols.Frame{Func: f.Func, File: f.File, Line: int(f.Line), PC: f.PC})
	t.frameID[f] = id
	return id, true
}

// reason returns why a goroutine with the given stack waits, or "" if the stack is
// not one of a waiting goroutine.
func (t *stackTable) reason(id uint32) string {
	if id == 0 {
		return ""
	}
	leaf := t.frame[t.stacks[id][0]].Func
	if why, ok := reasons[leaf]; ok {
		return why
	}
	if root := t.frame[t.stacks[id][len(t.stacks[id])-1]].Func; strings.HasPrefix(root, "runtime.") && strings.HasPrefix(leaf, "runtime.") {
		return "system goroutine wait"
	}
	return ""
}

// intern returns the one copy of a text that is kept; it does not refer to the tables
// of a generation.
func (t *stackTable) intern(s string) string {
	if kept, ok := t.text[s]; ok {
		return kept
	}
	s = string(append([]byte(nil), s...))
	t.text[s] = s
	return s
}

func (t *stackTable) frames(id uint32) []*symbols.Frame {
	if id == 0 || int64(id) >= int64(len(t.stacks)) {
		return nil
	}
	fs := make([]*symbols.Frame, len(t.stacks[id]))
	for i, f := range t.stacks[id] {
		fs[i] = t.frame[f]
	}
	return fs
}
