package format

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// GoTraceHeadSize is the size of a gotrace block's payload before its bytes.
const GoTraceHeadSize = 8

// AppendGoTrace appends the payload of a gotrace block: part number seq, from 0 on, of the Go
// execution trace number stream, from 1 on.
func AppendGoTrace(b []byte, stream, seq uint32, part []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, stream)
	b = binary.LittleEndian.AppendUint32(b, seq)
	return append(b, part...)
}

// Switches holds the times when a thread went on and off the CPU.
type Switches struct {
	Thread  uint32
	Process uint16 // in a merged trace: the number of the thread's process; else 0
	First   bool   // nothing is known of the thread before Base
	Lost    bool   // some were lost: between the previous block and Base the thread's state is unknown
	On      bool   // it was on a CPU at Base
	Base    int64  // ns of the monotonic clock
	Until   int64  // likewise: all switches up to then are included
	List    []Switch
}

// Switch is a switch of a thread.
type Switch struct {
	Time int64 // ns of the monotonic clock
	How  SwitchKind
}

// SwitchKind is the kind of a switch.
type SwitchKind uint8

const (
	SwitchIn      SwitchKind = 0 // it went on a CPU
	SwitchOut     SwitchKind = 1 // it went off, to wait for something
	SwitchPreempt SwitchKind = 2 // it was preempted
	SwitchData    SwitchKind = 3 // it went off to wait for a page of memory: a major page fault
	SwitchText    SwitchKind = 4 // likewise, for a page of instructions
)

// AfterFault is the maximum number of ns that a thread is on its CPU between a wait for a page and
// the end of the page fault: usually 1 to 8 µs. A wait that ended earlier was not for a page.
const AfterFault = 30_000

const (
	switchesFirst = 1 << iota
	switchesLost
	switchesOn
)

const switchesHead = 24

// AppendSwitches appends s's payload. The switches are in the order of their times,
// from Base on.
func AppendSwitches(b []byte, s *Switches) []byte {
	le := binary.LittleEndian
	var flags uint32
	for _, f := range []struct {
		set bool
		bit uint32
	}{{s.First, switchesFirst}, {s.Lost, switchesLost}, {s.On, switchesOn}} {
		if f.set {
			flags |= f.bit
		}
	}
	b = le.AppendUint32(b, s.Thread)
	b = le.AppendUint32(b, flags|uint32(s.Process)<<16)
	b = appendInts(b, s.Base, s.Until)
	at := s.Base
	for _, w := range s.List {
		b = binary.AppendUvarint(b, uint64(w.Time-at)<<2|uint64(min(w.How, SwitchData)))
		if w.How == SwitchText {
			b = append(b, byte(SwitchData)) // a second one, at the same time
		}
		at = w.Time
	}
	return b
}

// maxSwitches is the maximum number of switches in a block: what fits into a chunk of 64 KiB.
// Without a limit, reading a large chunk would take 16 times its size.
const maxSwitches = 1 << 16

// DecodeSwitches reads a switch block's payload, appending its switches to dst.
func DecodeSwitches(dst []Switch, p []byte) (s Switches, err error) {
	s, n, err := CheckSwitches(p)
	if err != nil {
		return s, err
	}
	dst = slices.Grow(dst, n)
	begin := len(dst)
	at := s.Base
	for q := p[switchesHead:]; len(q) > 0; {
		v, n := binary.Uvarint(q)
		at += int64(v >> 2)
		w := Switch{at, SwitchKind(v & 3)}
		if last := len(dst) - 1; v == uint64(SwitchData) && last >= begin && dst[last] == w {
			dst[last].How = SwitchText
		} else {
			dst = append(dst, w)
		}
		q = q[n:]
	}
	s.List = dst
	return s, nil
}

// CheckSwitches reads a switch block's payload without its List, of which it returns the maximum
// length. It allocates nothing.
func CheckSwitches(p []byte) (s Switches, n int, err error) {
	le := binary.LittleEndian
	if len(p) < switchesHead {
		return s, 0, fmt.Errorf("%w: switch block of %d bytes", ErrCorrupt, len(p))
	}
	flags := le.Uint32(p[4:])
	s = Switches{
		Thread: le.Uint32(p), Process: uint16(flags >> 16),
		First: flags&switchesFirst != 0, Lost: flags&switchesLost != 0, On: flags&switchesOn != 0,
		Base: int64(le.Uint64(p[8:])), Until: int64(le.Uint64(p[16:])),
	}
	if s.Base < 0 || s.Until < s.Base || s.Until >= MaxTicks {
		return s, 0, fmt.Errorf("%w: switches from %d to %d", ErrCorrupt, s.Base, s.Until)
	}
	at := s.Base
	for q := p[switchesHead:]; len(q) > 0; n++ {
		v, size := binary.Uvarint(q)
		if size <= 0 || v>>2 > uint64(s.Until-at) || n == maxSwitches {
			return s, n, fmt.Errorf("%w: a switch of thread %d", ErrCorrupt, s.Thread)
		}
		at += int64(v >> 2)
		q = q[size:]
	}
	return s, n, nil
}

// LockSums sums up what happened at a lock since the last block.
type LockSums struct {
	Ticks     int64
	Addr      uint64
	Name      uint16
	Kind      LockKind
	Acquired  int64 // acquisitions; -1: unknown
	Contended int64 // acquisitions that had to wait
	Short     int64 // of the contended ones: those that waited for less than the threshold, and have no record
	ShortWait int64 // ns, total wait of those
}

// LockKind is the kind of an object that is waited for. A new kind needs, besides its name here:
// the names in export/html/assets/model/waitlinks.js, its line in docs/format.md and docs/json.md,
// its word in internal/record/locking.go, and a type that locks in scope/mutex.go. A kind without a
// holder, such as retry, must also be known to internal/analysis/waits.go,
// internal/report/waits/text.go and internal/doctor/rules_lock.go.
type LockKind uint8

const (
	LockUnknown LockKind = 0 // any locker passed to scope.Lock
	LockMutex   LockKind = 1
	LockRWMutex LockKind = 2
	LockRetry   LockKind = 3 // a lock-free loop: it waits when it has to retry

	// These are reported by hooks in the standard library; see Held for those that have holders.
	LockOnce      LockKind = 4 // a sync.Once: waiting for the goroutine that runs its function
	LockWaitGroup LockKind = 5
	LockCond      LockKind = 6
	LockSend      LockKind = 7 // to a channel
	LockReceive   LockKind = 8 // from a channel
	LockSelect    LockKind = 9 // for one of several channels
)

// Held reports whether the object can be held, like a lock: otherwise there are no holds, and
// acquisitions are not counted.
func (k LockKind) Held() bool { return k <= LockRWMutex || k == LockOnce }

// LockKindNames are the names of the kinds by number, as the tools show them.
var LockKindNames = []string{"lock", "mutex", "rwmutex", "retry", "once", "waitgroup", "cond", "send", "receive", "select"}

// AppendLockSums appends l's payload.
func AppendLockSums(b []byte, l *LockSums) []byte {
	return appendInts(b, l.Ticks, int64(l.Addr), int64(l.Kind)<<16|int64(l.Name), l.Acquired, l.Contended, l.Short, l.ShortWait)
}

// DecodeLockSums reads a lock block's payload.
func DecodeLockSums(p []byte) (l LockSums, err error) {
	v, err := decode(BlockLock, p)
	if err == nil && (v[6].N > v[5].N) {
		err = fmt.Errorf("%w: numbers that no lock has", ErrCorrupt)
	}
	if err != nil {
		return l, err
	}
	return LockSums{
		Ticks: v[0].N, Addr: uint64(v[1].N), Name: uint16(v[2].N), Kind: LockKind(v[3].N),
		Acquired: v[4].N, Contended: v[5].N, Short: v[6].N, ShortWait: v[7].N,
	}, nil
}

// lockMode is the mode in which a lock is requested or held: the value of the uint slot of a wait
// or hold, below its kind.
type lockMode uint8

const (
	LockExclusive lockMode = 0
	LockShared    lockMode = 1 // with other readers
)

// LockEvery in that slot means that every wait and every hold of the lock with this name is
// recorded.
const LockEvery = 2

// LockPlace in that slot means that the lock has no name: the record has the name of the place
// where it was locked, shared by all unnamed locks that are locked there.
const LockPlace = 4

// LockSince in that slot of a hold means that the lock was held at least since the record's start,
// and perhaps longer: its holder got it without waiting, which is not recorded.
const LockSince = 8

// LockSlot returns the value of the uint slot of a wait or a hold.
func LockSlot(k LockKind, m lockMode) uint64 { return uint64(k)<<8 | uint64(m) }

// LockOf splits a value of LockSlot.
func LockOf(v uint64) (LockKind, lockMode) {
	k := LockKind(v >> 8)
	if int(k) >= len(LockKindNames) {
		k = LockUnknown
	}
	return k, lockMode(v & 1)
}
