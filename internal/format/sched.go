package format

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// GoTraceHeadSize is how much of a gotrace block's payload comes before its bytes.
const GoTraceHeadSize = 8

// AppendGoTrace appends the payload of a gotrace block: the seq-th part, from 0 on,
// of the stream-th Go execution trace, from 1 on, that was taken.
func AppendGoTrace(b []byte, stream, seq uint32, part []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, stream)
	b = binary.LittleEndian.AppendUint32(b, seq)
	return append(b, part...)
}

// Switches is when a thread came onto a CPU and left it.
type Switches struct {
	Thread  uint32
	Process uint16 // in a merged trace: the number of the process whose thread it is; else 0
	First   bool   // nothing is known of the thread before Base
	Lost    bool   // some were lost: what the thread did between the block before and Base is not known
	On      bool   // it was on a CPU at Base
	Base    int64  // ns of the monotonic clock
	Until   int64  // the same: up to when all switches are in here
	List    []Switch
}

// Switch is one of them.
type Switch struct {
	Time int64 // ns of the monotonic clock
	How  SwitchKind
}

// SwitchKind is how a thread's being on a CPU changes.
type SwitchKind uint8

const (
	SwitchIn      SwitchKind = 0 // it came onto a CPU
	SwitchOut     SwitchKind = 1 // it left it, to wait for something
	SwitchPreempt SwitchKind = 2 // it was put off it, and could have gone on
	SwitchData    SwitchKind = 3 // it left it to wait for a page of memory: a major page fault
	SwitchText    SwitchKind = 4 // the same, of a page with the instructions to come
)

// AfterFault is for how many ns at most a thread is on its CPU between a wait for a page and the
// end of the page fault: 1 to 8 µs as a rule. What ends earlier is no wait for a page.
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

// maxSwitches is how many switches a block has at most: what fits a chunk of 64 KiB.
// Without a limit a large chunk would cost its reader 16 times its size.
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

// CheckSwitches reads a switch block's payload but for its List, of which it only
// tells how many there are at most. It allocates nothing.
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

// LockSums is what happened at a lock since it was last told.
type LockSums struct {
	Ticks     int64
	Addr      uint64
	Name      uint16
	Kind      LockKind
	Acquired  int64 // how often it was had; -1: not known
	Contended int64 // of those: not at once
	Short     int64 // of the contended ones: waited for less than the threshold, and have no record
	ShortWait int64 // ns, what these waited together
}

// LockKind is what kind of thing is waited for. Another one needs, beside its name here: the names in
// export/html/assets/model/waitlinks.js, its line in docs/format.md and docs/json.md, its word in
// internal/record/locking.go, and a type that locks in scope/mutex.go. If it has no holder, as a retry
// has none, internal/analysis/waits.go, internal/report/waits/text.go and internal/doctor/rules_lock.go
// must know.
type LockKind uint8

const (
	LockUnknown LockKind = 0 // whatever scope.Lock was given
	LockMutex   LockKind = 1
	LockRWMutex LockKind = 2
	LockRetry   LockKind = 3 // a lock-free loop: it waits where it had to try again

	// These are told by hooks in the standard library; see Held for who of them has holders.
	LockOnce      LockKind = 4 // a sync.Once: waiting for who runs its function
	LockWaitGroup LockKind = 5
	LockCond      LockKind = 6
	LockSend      LockKind = 7 // to a channel
	LockReceive   LockKind = 8 // from a channel
	LockSelect    LockKind = 9 // for one of several channels
)

// Held reports whether somebody can have what is waited for, as a lock is had: else there
// are no holds, and how often it was had is no number.
func (k LockKind) Held() bool { return k <= LockRWMutex || k == LockOnce }

// LockKindNames are the kinds by number, as the tools show them.
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

// lockMode is how a lock is wanted or held: the value of the uint slot of a wait or
// hold, below its kind.
type lockMode uint8

const (
	LockExclusive lockMode = 0
	LockShared    lockMode = 1 // with other readers
)

// LockEvery in that slot says that every wait and every hold is recorded of the lock
// that has this name.
const LockEvery = 2

// LockPlace in that slot says that the lock has no name: the record has that of the place
// where it was locked, which is that of all locks without a name that are locked there.
const LockPlace = 4

// LockSince in that slot of a hold says that the lock was held at least since the record's
// start, and perhaps longer: who had it got it without waiting, which nothing tells.
const LockSince = 8

// LockSlot returns the value of the uint slot of a wait or a hold.
func LockSlot(k LockKind, m lockMode) uint64 { return uint64(k)<<8 | uint64(m) }

// LockOf takes the value of LockSlot apart.
func LockOf(v uint64) (LockKind, lockMode) {
	k := LockKind(v >> 8)
	if int(k) >= len(LockKindNames) {
		k = LockUnknown
	}
	return k, lockMode(v & 1)
}
