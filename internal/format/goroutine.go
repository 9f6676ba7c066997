package format

// Goroutine describes a goroutine at the begin of the first Go execution trace, which has neither its
// creation nor the begin of its state: those of an excerpt, whose recording had both.
type Goroutine struct {
	ID      uint64
	Creator uint64 // 0: not known
	Created int64  // ns from the trace's start; -1: not known
	Since   int64  // likewise: begin of its state
	Thread  uint32 // the system's id of the thread on which it runs, 0: none, or not known
	Proc    int32  // Go's processor, -1: none, or not known
	State   uint16 // as in GoroutineStates
	Site    uint32 // stack of the go statement; 0: not known
	Start   uint32 // stack of its first function; 0: not known
	Stack   uint32 // where it is; 0: not known
	Reason  string // why it waits, in Go's words
}

// GoroutineStates are the states of a goroutine, by number.
var GoroutineStates = []string{"unknown", "ended", "runnable", "running", "waiting", "syscall"}

// maxReason is the maximum length of a reason in bytes.
const maxReason = 256

// AppendGoroutine appends g's payload.
func AppendGoroutine(b []byte, g *Goroutine) []byte {
	number := func(n int64) Value { return Value{N: n} }
	return Blocks[BlockGoroutine].Append(b, []Value{
		number(int64(g.ID)), number(int64(g.Creator)), number(g.Created), number(g.Since), number(int64(g.Thread)), number(int64(g.Proc) + 1),
		number(int64(g.Site)), number(int64(g.Start)), number(int64(g.Stack)), number(int64(g.State)), {B: []byte(g.Reason[:min(len(g.Reason), maxReason)])},
	})
}

// DecodeGoroutine reads a goroutine block's payload.
func DecodeGoroutine(p []byte) (g Goroutine, err error) {
	v, err := decode(BlockGoroutine, p)
	if err != nil {
		return g, err
	}
	return Goroutine{
		ID: uint64(v[0].N), Creator: uint64(v[1].N), Created: v[2].N, Since: v[3].N, Thread: uint32(v[4].N), Proc: int32(v[5].N - 1),
		Site: uint32(v[6].N), Start: uint32(v[7].N), Stack: uint32(v[8].N), State: uint16(v[9].N), Reason: string(v[10].B),
	}, nil
}
