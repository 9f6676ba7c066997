package perf

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// longest is how many switches a block has at most: each takes up to five bytes.
const longest = 8000

// threads makes blocks of records.
type threads struct {
	m     map[uint32]*thread
	out   queue
	clock func(tid uint32) (cpu int64, ok bool) // its CPU time
	gaps  int                                   // in so many rings records are missing now
	buf   []byte
}

// thread is one of them, with what is not written of it.
type thread struct {
	tid         uint32
	known       bool // whether it was on a CPU at base
	on          bool // at base
	now         bool // on a CPU, after all of the list
	first, lost bool // of the block to come
	base        int64
	list        []format.Switch
	cpu         int64 // its CPU time at base, where known is false; -1: not asked
}

// exists takes in a thread that was there when the recording began, at now.
func (ts *threads) exists(tid uint32, now int64) {
	t := &thread{tid: tid, first: true, base: now, cpu: -1}
	if cpu, ok := ts.clock(tid); ok {
		t.cpu = cpu
	}
	ts.m[tid] = t
}

// add takes in a record. Records come in the order of their times, but for those that
// are late.
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

// gap takes in where records are missing from, or up to. Gaps may overlap.
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

// turn takes in that t came onto a CPU, or left it.
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

// waited takes in what t waited for, by a page fault that has ended. The kernel may wait several
// times for a page, and others may have the CPU in between. What is not as near as
// format.AfterFault stays a wait for something else.
func (t *thread) waited(end int64, how format.SwitchKind) {
	for i := len(t.list) - 1; i >= 0 && t.list[i].How == format.SwitchIn && end-t.list[i].Time < format.AfterFault; i -= 2 {
		switch {
		case i == 0 && !t.on: // the block before had to say that it waits
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

// restart forgets what is known of t up to now.
func (t *thread) restart(now int64) {
	t.known, t.lost, t.base, t.list, t.cpu = false, true, now, t.list[:0], -1
}

// put writes what is known of t up to until, and goes on from there.
func (ts *threads) put(t *thread, until int64) {
	if !t.known {
		return
	}
	s := format.Switches{Thread: t.tid, First: t.first, Lost: t.lost, On: t.on, Base: t.base, Until: until, List: t.list}
	ts.buf = format.AppendSwitches(ts.buf[:0], &s)
	// What there was no room for is as good as lost.
	t.lost = !ts.out.put(ts.buf)
	t.first = t.first && t.lost
	wasPut := !t.now && len(t.list) > 0 && t.list[len(t.list)-1].How == format.SwitchPreempt
	t.base, t.on, t.list = until, t.now, t.list[:0]
	if wasPut { // off a CPU, and the next block has to say how
		t.list = append(t.list, format.Switch{Time: until, How: format.SwitchPreempt})
	}
}

// flush writes what is known up to now. Of threads that wait, and did nothing else since
// the last time, it does so only if all are wanted.
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

// ask finds out by its CPU time where a thread was that has not switched since base.
func (ts *threads) ask(t *thread, now int64) {
	cpu, ok := ts.clock(t.tid)
	if !ok {
		return
	}
	t.known, t.on = true, cpu-t.cpu > (now-t.base)/2
	t.now = t.on
}
