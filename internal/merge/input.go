package merge

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// startTicks are the ticks at which a merged trace starts. They leave room before, as a goroutine
// may have been created before the recording began.
const startTicks = int64(1e15)

// input is one of the traces.
type input struct {
	t     *trace.Trace
	name  string
	ppid  uint32
	host  string
	boot  string
	place int // in the list of inputs

	mono        int64 // the machine's monotonic clock at the start; a time namespace's without its offset
	least, most int64 // bounds of how far the wall clock was ahead of that

	group   *group
	outside int64  // ns by which requests lie outside their callers in an input of the same clock, which contradicts that
	parent  *input // the process that started it; nil: not among the inputs
	number  uint32
	shift   uint32
	start   int64 // ns since 1970 by the first input's machine
	base    int64 // the least start
	last    int64 // ticks of the last event

	foreign []string // problems of its Go execution traces, where some are another process's
}

func newInput(t *trace.Trace, name string) *input {
	ppid, _ := strconv.ParseUint(t.Lookup("ppid"), 10, 32)
	in := &input{t: t, name: name, ppid: uint32(ppid), host: t.Lookup("host"), boot: t.Lookup("boot")}
	offset, _ := strconv.ParseInt(t.Lookup("monotonic_offset"), 10, 64)
	in.mono = t.Header().StartMono - min(max(offset, -mostTime), mostTime)
	in.least, in.most = in.ahead(), in.ahead()
	for _, c := range t.Calibrations() {
		if sane(c.Wall) && sane(c.Mono) {
			ahead := c.Wall - c.Mono + t.Header().StartMono - in.mono
			in.least, in.most = min(in.least, ahead), max(in.most, ahead)
		}
	}
	return in
}

// sane reports whether a time by a clock can be added to others.
func sane(ns int64) bool { return -mostTime <= ns && ns <= mostTime }

// ahead returns how far the wall clock was ahead of the monotonic one at the start.
func (in *input) ahead() int64 { return in.t.Header().StartWall - in.mono }

// at returns the ticks in the merged trace of a time, in ns from the start of the input.
func (in *input) at(ns int64) int64 {
	wall := in.group.aligned(in.group.ahead + in.mono + ns)
	return min(max(wall-in.base+startTicks, 1), format.MaxTicks-1)
}

// shiftOf returns how many bits of a goroutine's id hold the process's own id.
func shiftOf(processes int) uint32 {
	return uint32(bits.Len64(format.MaxGoid) - bits.Len(uint(processes)))
}

// goid returns the id of a goroutine in the merged trace. An unknown goroutine gets the row of its
// thread, or of its owner: with the highest own bit set, and the thread or owner below.
func (in *input) goid(id uint64, thread, owner uint32) (uint64, error) {
	unknown := uint64(1) << (in.shift - 1)
	switch {
	case id >= unknown:
		return 0, fmt.Errorf("the goroutine id %d of the process %s is too large to merge with so many processes; merge fewer", id, trace.MemberLabel(&format.Member{Program: in.t.Lookup("program"), PID: in.t.Header().PID}))
	case id != 0:
		return uint64(in.number)<<in.shift | id, nil
	case thread != 0:
		id = uint64(thread)
	default:
		id = uint64(owner)
	}
	return uint64(in.number)<<in.shift | unknown | id&(unknown-1), nil
}

// address marks the address of a lock as this process's: others may have a lock there too.
func (in *input) address(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	return a ^ uint64(in.number)<<48
}

// errorOf returns the largest error of an input's times, -1 if that is not known.
func (in *input) errorOf() int64 {
	if !in.group.known {
		return -1
	}
	return max(int64(min(math.Ceil(in.group.err), math.MaxInt64/2)), in.outside)
}
