package gotrace

import (
	"encoding/binary"

	exptrace "golang.org/x/exp/trace"

	"github.com/scopeview/scopeview/internal/format"
)

// begin delivers the goroutines that existed before the first stream, as if an earlier stream had had
// their creations, and the begins of their states.
func (r *reader) begin(list []format.Goroutine) {
	for i := range list {
		g := &list[i]
		if g.Created >= 0 {
			made := Transition{Time: g.Created, Goid: g.ID, From: NotExist, To: Runnable, Proc: -1, By: g.Creator, ByStack: r.stackOf(g.Site), Stack: r.stackOf(g.Start)}
			r.begins(&made)
			r.begins(&Transition{Time: g.Created, Goid: g.ID, From: Runnable, To: Unknown, Proc: -1})
		}
		now := Transition{Time: g.Since, Goid: g.ID, To: GoState(g.State), Thread: g.Thread, Proc: g.Proc, Stack: r.stackOf(g.Stack), Reason: r.info.stacks.intern(g.Reason)}
		if now.To > NotExist && now.To <= Syscall && r.gs[g.ID] == nil {
			r.begins(&now)
			r.gs[g.ID] = &goroutine{sent: now.To}
		}
	}
}

func (r *reader) begins(tr *Transition) {
	if r.h.Transition != nil {
		r.h.Transition(tr)
	}
}

// stackOf returns the number of a stack of the trace's blocks; 0 for none.
func (r *reader) stackOf(id uint32) uint32 {
	if id == 0 || r.info.stacks.off {
		return 0
	}
	return r.info.stacks.addFrames(r.t.AppendFrames(nil, id))
}

// addFrames returns the number of a stack that is already as add makes them, 0 for one beyond the
// limits.
func (t *stackTable) addFrames(frames []format.Frame) uint32 {
	t.key, t.list = t.key[:0], t.list[:0]
	for i := range frames {
		f := &frames[i]
		id, ok := t.frameOf(exptrace.StackFrame{Func: f.Function, File: f.File, Line: uint64(f.Line)})
		if !ok {
			t.refused++
			return 0
		}
		t.key = binary.LittleEndian.AppendUint32(t.key, id)
		t.list = append(t.list, id)
	}
	return t.number()
}
