//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"encoding/binary"
	"fmt"
	"iter"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// offsets are the positions of the runtime's fields that the fast path reads.
type offsets struct {
	m, goid, seq, wait uintptr // in g
	p, procid          uintptr // in m
	tick               uintptr // in p, whose number comes first
	coroutine          uint64  // the waitreason of a goroutine after a coroutine switch
}

// usual are the offsets for which the assembly was written, on both processors. The path is used
// only if every one of them is verified.
var usual = offsets{m: 48, goid: 152, seq: 191, wait: 176, p: 208, procid: 64, tick: 16}

// probe is one look at the runtime's structs from one goroutine: the offsets at which each field
// may be, by name.
type probe map[string]map[uintptr]bool

// discover finds the offsets of this process's runtime, and verifies them against public facts from
// the runtime and the kernel: the goroutine's id in runtime.Stack, gettid, runtime.Gosched, and how
// waiting changes a goroutine. missing names what could not be verified.
func discover() (l offsets, missing string, err error) {
	mem, err := newMemory()
	if err != nil {
		return l, "", fmt.Errorf("no pipe to read memory by: %w", err)
	}
	defer mem.close()
	var all probe
	for range 4 {
		c := make(chan probe)
		go func() { c <- look(mem) }()
		p := <-c
		if p == nil {
			return l, "the runtime's structs could not be read", nil
		}
		if all == nil {
			all = p
			continue
		}
		for name, offs := range all {
			for o := range offs {
				if !p[name][o] {
					delete(offs, o)
				}
			}
		}
	}
	pick := func(name string, dst *uintptr, usual uintptr) {
		if !all[name][usual] {
			missing = "the runtime's " + name + " is not where it was"
			return
		}
		*dst = usual
	}
	pick("goid", &l.goid, usual.goid)
	pick("m", &l.m, usual.m)
	pick("procid", &l.procid, usual.procid)
	pick("p", &l.p, usual.p)
	pick("schedtick", &l.tick, usual.tick)
	pick("trackingSeq", &l.seq, usual.seq)
	pick("waitreason", &l.wait, usual.wait)
	for o := range all["coroutine"] {
		l.coroutine = uint64(o)
	}
	if missing == "" && len(all["coroutine"]) != 1 {
		missing = "the wait reason of coroutines was not found"
	}
	return l, missing, nil
}

// look runs on a goroutine of its own and retries until the scheduler does not disturb it for one
// round.
func look(mem memory) probe {
	for range 50 {
		p := probe{}
		if p.identity(mem) && p.schedule(mem) && p.waiting() {
			return p
		}
	}
	return nil
}

func (p probe) add(name string, off uintptr) {
	if p[name] == nil {
		p[name] = map[uintptr]bool{}
	}
	p[name][off] = true
}

// identity searches for the goroutine's id in g, for m (which points back to g and holds the
// thread's id) in g, and for p (which points back to m) in m.
func (p probe) identity(mem memory) bool {
	g, id, tid := getg(), stackID(), gettid()
	gb := bytesAt(g, gBytes)
	var mb, pb [512]byte
	for o := uintptr(0); o < gBytes; o += 8 {
		v := binary.LittleEndian.Uint64(gb[o:])
		if v == id {
			p.add("goid", o)
		}
		if !mem.readAt(uintptr(v), mb[:]) || !holds(mb[:], uint64(g)) || !holds(mb[:], tid) {
			continue
		}
		for q := uintptr(0); q < uintptr(len(mb)); q += 8 {
			w := binary.LittleEndian.Uint64(mb[q:])
			if w == tid {
				p.add("procid", q)
			}
			if mem.readAt(uintptr(w), pb[:256]) && holds(pb[:256], v) &&
				binary.LittleEndian.Uint32(pb[:]) < uint32(runtime.GOMAXPROCS(0)) {
				p.add("p", q)
			}
		}
		p.add("m", o)
	}
	return gettid() == tid && len(p["m"]) > 0 && len(p["procid"]) > 0 && len(p["p"]) > 0 && len(p["goid"]) > 0
}

// schedule searches for the byte of g that increments per Gosched and not per system call, and for
// the word of p that increments when it schedules.
func (p probe) schedule(mem memory) bool {
	g := getg()
	m, ok := some(p["m"], usual.m)
	pp, ok2 := some(p["p"], usual.p)
	if !ok || !ok2 {
		return false
	}
	curp := func() uintptr { return wordAt(wordAt(g+m) + pp) }
	var seq, tick map[uintptr]bool
	rounds := 0
	for range 40 {
		p0 := curp()
		if p0 == 0 {
			continue // preempted between the two readings: that thread has no p now
		}
		g0, t0 := string(bytesAt(g, gBytes)), string(bytesAt(p0, 64))
		var b [8]byte
		mem.readAt(g, b[:]) // a system call: not a yield
		if curp() != p0 {
			continue
		}
		g1, t1 := string(bytesAt(g, gBytes)), string(bytesAt(p0, 64))
		runtime.Gosched()
		if curp() != p0 {
			continue
		}
		g2, t2 := string(bytesAt(g, gBytes)), string(bytesAt(p0, 64))
		s, t := map[uintptr]bool{}, map[uintptr]bool{}
		for o := range uintptr(gBytes) {
			if g0[o] == g1[o] && g2[o] == g1[o]+1 {
				s[o] = seq == nil || seq[o]
			}
		}
		for o := uintptr(8); o < 64; o += 4 {
			a, b, c := u32(t0[o:]), u32(t1[o:]), u32(t2[o:])
			if a == b && c > b && c-b < 1000 {
				t[o] = tick == nil || tick[o]
			}
		}
		keep(s)
		keep(t)
		if len(s) == 0 || len(t) == 0 {
			return false // preempted in between; try again
		}
		seq, tick = s, t
		if rounds++; rounds == 10 {
			p["trackingSeq"], p["schedtick"] = seq, tick
			return true
		}
	}
	return false
}

// waiting searches for the byte of g that holds its last wait reason: one value after a sleep,
// another after a switch between coroutines.
func (p probe) waiting() bool {
	g := getg()
	snap := func() string { return string(bytesAt(g, gBytes)) }
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	defer stop()
	var s [4]string
	for i := 0; i < len(s); i += 2 {
		time.Sleep(10 * time.Microsecond)
		s[i] = snap()
		next()
		s[i+1] = snap()
	}
	for o := range uintptr(gBytes) {
		slept, switched := s[0][o], s[1][o]
		if slept != 0 && switched != 0 && slept != switched && slept == s[2][o] && switched == s[3][o] {
			p.add("waitreason", o)
			if o == usual.wait || len(p["coroutine"]) == 0 {
				p["coroutine"] = map[uintptr]bool{uintptr(switched): true}
			}
		}
	}
	return len(p["waitreason"]) > 0
}

func some(m map[uintptr]bool, usual uintptr) (uintptr, bool) {
	if m[usual] {
		return usual, true
	}
	for o := range m {
		return o, true
	}
	return 0, false
}

func keep(m map[uintptr]bool) {
	for o, ok := range m {
		if !ok {
			delete(m, o)
		}
	}
}

func wordAt(addr uintptr) uintptr {
	return uintptr(binary.LittleEndian.Uint64(bytesAt(addr, 8)))
}

// memory is a pipe through which possibly unmapped memory is read: the kernel returns an error for
// a write from an invalid address, instead of sending a signal. Unlike /proc/self/mem it is
// available to processes that may not be dumped, and under emulators, whose addresses are not the
// kernel's.
type memory struct{ r, w int }

func newMemory() (memory, error) {
	var p [2]int
	err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	return memory{p[0], p[1]}, err
}

func (m memory) close() {
	unix.Close(m.r)
	unix.Close(m.w)
}

func (m memory) readAt(addr uintptr, b []byte) bool {
	if addr < 1<<16 || addr >= 1<<47 {
		return false
	}
	// As a number: a value that may not be a pointer must not look like one.
	n, _, errno := unix.Syscall(unix.SYS_WRITE, uintptr(m.w), addr, uintptr(len(b)))
	if errno != 0 {
		return false
	}
	got, err := unix.Read(m.r, b[:n])
	return err == nil && got == len(b)
}

func holds(b []byte, v uint64) bool {
	for o := 0; o+8 <= len(b); o += 8 {
		if binary.LittleEndian.Uint64(b[o:]) == v {
			return true
		}
	}
	return false
}

func u32(s string) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}
