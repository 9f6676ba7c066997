package format

import "fmt"

// Limits of a merged trace.
const (
	MaxMembers    = 1<<16 - 1 // processes
	MaxMemberText = 4 << 10   // bytes of each text of a member block
)

// Member is one of the processes in a merged trace.
type Member struct {
	From, To    int64 // ticks: the time of its own trace
	Offset      int64 // ns added to the wall clock of its start
	Drift       int64 // ns per second by which its clock was slowed down
	Error       int64 // possible error of its times in ns; -1: unknown
	Lost        int64 // records
	Overwritten int64 // records overwritten in its ring
	Breaks      int64 // number of steps of its clock
	Number      uint32
	Parent      uint32 // number of the process that started it; 0: not among them
	Shift       uint32 // its goroutine ids are Number << Shift + the process's own id
	PID, PPID   uint32
	Violated    bool // pairs of scopes contradict each other by up to Error
	Uncounted   bool // it may have lost more than is known
	Apart       bool // it has the boot id of an earlier process, but another monotonic clock

	Program, Host, Boot, Path string
	Lacks                     string // what its own trace is missing
}

// AppendMember appends m's payload.
func AppendMember(b []byte, m *Member) []byte {
	number := func(n int64) Value { return Value{N: n} }
	text := func(s string) Value { return Value{B: []byte(s[:min(len(s), MaxMemberText)])} }
	flags := int64(0)
	if m.Violated {
		flags |= 1
	}
	if m.Uncounted {
		flags |= 2
	}
	if m.Apart {
		flags |= 4
	}
	return Blocks[BlockMember].Append(b, []Value{
		number(m.From), number(m.To), number(m.Offset), number(m.Drift), number(m.Error), number(m.Lost), number(m.Overwritten), number(m.Breaks),
		number(int64(m.Number)), number(int64(m.Parent)), number(int64(m.Shift)), number(int64(m.PID)), number(int64(m.PPID)), number(flags),
		text(m.Program), text(m.Host), text(m.Boot), text(m.Path), text(m.Lacks),
	})
}

// DecodeMember reads a member's payload.
func DecodeMember(p []byte) (m Member, err error) {
	v, err := decode(BlockMember, p)
	if err != nil {
		return m, err
	}
	m = Member{
		From: v[0].N, To: v[1].N, Offset: v[2].N, Drift: v[3].N, Error: v[4].N, Lost: v[5].N, Overwritten: v[6].N, Breaks: v[7].N,
		Number: uint32(v[8].N), Parent: uint32(v[9].N), Shift: uint32(v[10].N), PID: uint32(v[11].N), PPID: uint32(v[12].N), Violated: v[13].N&1 != 0, Uncounted: v[13].N&2 != 0, Apart: v[13].N&4 != 0,
		Program: string(v[14].B), Host: string(v[15].B), Boot: string(v[16].B), Path: string(v[17].B), Lacks: string(v[18].B),
	}
	if m.To < m.From || uint64(m.Number)<<m.Shift > MaxGoid {
		return m, fmt.Errorf("%w: a process with the number %d and a shift of %d, from %d to %d", ErrCorrupt, m.Number, m.Shift, m.From, m.To)
	}
	return m, nil
}

// Sched describes how to read the gotrace and switch blocks of a process in a merged trace. The
// times in its switch blocks are ns from the merged trace's start.
type Sched struct {
	Number  uint32 // the process's
	First   uint32 // the number of its first stream in gotrace blocks
	Streams uint32 // number of its streams, which are consecutive
	Mono    int64  // its monotonic clock at the start of its own trace
	End     int64  // ns: duration of its own trace by its own clock
	Same    bool   // its Go execution traces use that monotonic clock
	Made    bool   // its own trace was made from its Go execution trace
	Why     string // why there are no switches
}

// AppendSched appends s's payload.
func AppendSched(b []byte, s *Sched) []byte {
	flags := int64(0)
	if s.Same {
		flags |= 1
	}
	if s.Made {
		flags |= 2
	}
	return Blocks[BlockSched].Append(b, []Value{
		{N: int64(s.Number)}, {N: flags}, {N: int64(s.First)}, {N: int64(s.Streams)}, {N: s.Mono}, {N: s.End}, {B: []byte(s.Why[:min(len(s.Why), MaxMemberText)])},
	})
}

// DecodeSched reads a sched block's payload.
func DecodeSched(p []byte) (s Sched, err error) {
	v, err := decode(BlockSched, p)
	if err != nil {
		return s, err
	}
	return Sched{
		Number: uint32(v[0].N), Same: v[1].N&1 != 0, Made: v[1].N&2 != 0, First: uint32(v[2].N), Streams: uint32(v[3].N),
		Mono: v[4].N, End: v[5].N, Why: string(v[6].B),
	}, nil
}
