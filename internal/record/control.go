//go:build !scope_off

package record

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/newfile"
)

// Processes that may write to the trace file use the control words in its first
// chunk to switch the recording off and on, to set its filter, or to request a
// snapshot. The recorder checks them once per tick. It reads and writes the file,
// not the memory, because with the heap backing these differ.

// obey executes a request that has come since the last tick.
func (r *recorder) obey() {
	q, last, err := format.ReadControl(r.file)
	n := q.Number
	if n == r.asked || n == last.Number || err != nil && !errors.Is(err, format.ErrRequest) {
		return
	}
	if err != nil {
		r.asked = n
		r.answer(n, "", err)
		return
	}
	if q.Command == format.CommandSnapshot {
		if r.send(func() { r.answerSnapshot(n, q.Text) }) {
			r.asked = n
		}
		return
	}
	// Stop holds it, and waits for this goroutine.
	if !control.TryLock() {
		return
	}
	defer control.Unlock()
	r.asked = n
	text, err := r.command(&q)
	r.answer(n, text, err)
}

// command executes a request; control is held.
func (r *recorder) command(q *format.Request) (text string, err error) {
	switch q.Command {
	case format.CommandOff:
		r.off.Store(true)
		r.applyFilter("switched off from outside")
		return "switched off; no scope is recorded until it is switched on", nil
	case format.CommandOn:
		r.off.Store(false)
		r.applyFilter("switched on from outside")
		if expr := *r.expr.Load(); expr != "" {
			return "switched on, by the filter " + expr, nil
		}
		return "switched on", nil
	case format.CommandFilter:
		f, err := glob.Parse(q.Text)
		if err != nil {
			return "", err
		}
		r.setFilter(f, q.Text)
		if r.off.Load() {
			return "the filter is set; recording is switched off", nil
		}
		return "the filter is set", nil
	}
	return "", fmt.Errorf("unknown request kind %d: the program has another version of scopeview", q.Command)
}

func (r *recorder) answerSnapshot(n uint64, path string) {
	if path == "" {
		path = filepath.Dir(r.path)
	}
	if r.opts.keep == nil {
		r.answer(n, "", errors.New("this recording is not a ring; scopeview snapshot copies it without the program's help"))
		return
	}
	written, err := r.opts.keep.snapshot(r, path, "requested from outside")
	r.answer(n, written, err)
}

func (r *recorder) answer(n uint64, text string, err error) {
	a := format.Answer{Number: n, Text: text, Failed: err != nil}
	if err != nil {
		a.Text = err.Error()
	}
	if newfile.Room(r.path, format.ControlOffset+format.ControlSize) == nil {
		_ = a.Store(r.file) // on an error the requester times out, and reports that
	}
}

// nothing is the filter while recording is switched off.
var nothing = func() glob.Filter {
	f, _ := glob.Parse("-*")
	return f
}()

// setFilter makes f, whose text is expr, the recording's filter. control is held.
func (r *recorder) setFilter(f glob.Filter, expr string) {
	r.filter = f
	r.expr.Store(&expr)
	r.applyFilter("filter " + expr)
}

// applyFilter re-evaluates the filter for all names.
func (r *recorder) applyFilter(note string) {
	f := r.filter
	if r.off.Load() {
		f = nothing
	}
	r.names.setFilter(f)
	if f := funcsWriter.Load(); f != nil && r.funcs.Load() != nil {
		(*f)(r, collectFilter)
	}
	r.note(note)
}

// note writes a change of the running recording to the trace.
func (r *recorder) note(text string) {
	r.block(format.BlockNote, append(ticksPayload(r.clock.Now()), text...))
}
