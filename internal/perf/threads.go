package perf

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// longest is the maximum number of switches in a block: each takes up to five bytes.
const longest = 8000

// threads turns records into blocks.
type threads struct {
	m     map[uint32]*thread
	out   queue
	clock func(tid uint32) (cpu int64, ok bool) // CPU time of a thread
	gaps  int                                   // number of rings in which records are missing now
	buf   []byte
}

// thread is a thread, with its switches that are not yet written.
type thread struct {
	tid         uint32
	known       bool // whether it was on a CPU at base is known
	on          bool // it was on a CPU at base
	now         bool // it is on a CPU after all of list
	first, lost bool // flags of the next block
	base        int64
	list        []format.Switch
	cpu         int64 // its CPU time at base, if known is false; -1: not read
}

// exists adds a thread that existed when the recording began, at now.
func (ts *threads) exists(tid uint32, now int64) {
	t := &thread{tid: tid, first: true, base: now, cpu: -1}
	if cpu, ok := ts.clock(tid); ok {
		t.cpu = cpu
	}
	ts.m[tid] = t
}

// add processes a record. Records are in the order of their times, except late ones.
func (ts *threads) add(r *record) {
	if r.what == gapFrom || r.what == gapTo {
		ts.gap(r)
		return
	}
	t := ts.m[r.tid]
	if t == nil {
		if r.what >= died {
			return
		}
		t = &thread{tid: r.tid, first: true, known: true, on: r.what == in, base: r.time, cpu: -1}
		t.now = t.on
		ts.m[r.tid] = t
		return
	}
	switch {
	case r.what == born:
		return
	case r.what == died:
		if ts.gaps == 0 {
			if t.known && t.now && r.time >= t.base {
				t.list = append(t.list, format.Switch{Time: r.time, How: format.SwitchOut})
			}
			ts.put(t, max(r.time, t.base))
		}
		delete(ts.m, r.tid)
		return
	case ts.gaps > 0:
		return
	case r.what >= dataFault:
		t.waited(r.time, format.SwitchData+format.SwitchKind(r.what-dataFault))
		return
	}
	ts.turn(t, r)
}

// gap begins or ends a gap, in which records are missing. Gaps may overlap.
func (ts *threads) gap(r *record) {
	if r.what == gapFrom {
		if ts.gaps++; ts.gaps == 1 {
			for _, t := range ts.m {
				ts.put(t, max(r.time, t.base))
			}
		}
		return
	}
	if ts.gaps--; ts.gaps == 0 {
		for _, t := range ts.m {
			t.restart(r.time)
		}
	}
}

// turn processes a record that t got a CPU or left it.
func (ts *threads) turn(t *thread, r *record) {
	on := r.what == in
	end := t.base
	if n := len(t.list); n > 0 {
		end = t.list[n-1].Time
	}
	switch {
	case r.time < end: // late
		t.restart(end)
		return
	case !t.known:
		t.known, t.on = true, !on
	case t.now == on:
		ts.put(t, end)
		t.restart(r.time)
		t.known, t.on, t.now = true, on, on
		return
	}
	t.now = on
	t.list = append(t.list, format.Switch{Time: r.time, How: format.SwitchKind(r.what)})
	if len(t.list) == longest {
		ts.put(t, r.time)
	}
}

// waited marks the waits of t that ended with a page fault at end. The kernel may wait several
// times for a page, and others may have the CPU in between. A wait that is further away than
// format.AfterFault stays a wait for something else.
func (t *thread) waited(end int64, how format.SwitchKind) {
	for i := len(t.list) - 1; i >= 0 && t.list[i].How == format.SwitchIn && end-t.list[i].Time < format.AfterFault; i -= 2 {
		switch {
		case i == 0 && !t.on: // the previous block had to say that it waits
			t.list = slices.Insert(t.list, 0, format.Switch{Time: t.base, How: how})
			return
		case i == 0 || t.list[i-1].How > format.SwitchPreempt: // another fault's
			return
		case t.list[i-1].How == format.SwitchOut:
			t.list[i-1].How = how
		}
		end = t.list[i-1].Time
	}
}

// restart discards the state of t: it is unknown up to now.
func (t *thread) restart(now int64) {
	t.known, t.lost, t.base, t.list, t.cpu = false, true, now, t.list[:0], -1
}

// put writes the block of t up to until, and begins the next one there.
func (ts *threads) put(t *thread, until int64) {
	if !t.known {
		return
	}
	s := format.Switches{Thread: t.tid, First: t.first, Lost: t.lost, On: t.on, Base: t.base, Until: until, List: t.list}
	ts.buf = format.AppendSwitches(ts.buf[:0], &s)
	// A block for which there is no room counts as lost.
	t.lost = !ts.out.put(ts.buf)
	t.first = t.first && t.lost
	wasPut := !t.now && len(t.list) > 0 && t.list[len(t.list)-1].How == format.SwitchPreempt
	t.base, t.on, t.list = until, t.now, t.list[:0]
	if wasPut { // it is off a CPU, and the next block has to say how
		t.list = append(t.list, format.Switch{Time: until, How: format.SwitchPreempt})
	}
}

// flush writes all blocks up to now. It skips threads that are waiting and have no switches
// since the last flush, unless all is set.
func (ts *threads) flush(now int64, all bool) {
	if ts.gaps > 0 {
		return
	}
	for _, t := range ts.m {
		if all && !t.known && t.cpu >= 0 && now > t.base {
			ts.ask(t, now)
		}
		if len(t.list) > 0 || t.now || all {
			ts.put(t, max(now, t.base))
		}
	}
}

// ask determines by CPU time where a thread was that has not switched since base.
func (ts *threads) ask(t *thread, now int64) {
	cpu, ok := ts.clock(t.tid)
	if !ok {
		return
	}
	t.known, t.on = true, cpu-t.cpu > (now-t.base)/2
	t.now = t.on
}
