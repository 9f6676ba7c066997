//go:build !scope_off

package record

import (
	"encoding/binary"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/heartbeat"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// Values of sys.Live.On: whether a recording is running, and by which path.
const (
	Off      = 0
	fastPath = 1 // assembly; see internal/sys
	goPath   = 2
)

// current is the running recording, or the last one.
var current atomic.Pointer[recorder]

// Word 2 of a record without its goroutine and name.
const (
	headTask    = uint64(format.KindTask) << 40
	headTaskf   = uint64(format.KindTaskf) << 40
	headProcess = uint64(format.KindProcess) << 40
	headEvent   = uint64(format.KindEvent) << 40
	headPending = uint64(format.KindPending) << 40
	headCounter = uint64(format.KindCounter) << 40
	headWait    = uint64(format.KindWait) << 40
	headHold    = uint64(format.KindHold) << 40
	headTrack   = uint64(format.KindTrack) << 40
	headGo      = uint64(format.KindGo) << 40
	headEnd     = uint64(format.KindEnd) << 40
	headMade    = uint64(format.KindMade) << 40
)

// recorder is a recording. Fields that recording goroutines read are set before it
// becomes current and do not change.
type recorder struct {
	gen   int64     // identifies the recording
	fast  *sys.Fast // nil: the Go path
	pool  *pool.Pool
	names *names
	clock sys.Clock
	goids sys.Goids
	rate  int64 // ticks per second
	began int64 // ticks
	path  string
	file  *os.File
	hot   *os.File // of the shm backing: holds chunks before they are in file
	id    [16]byte // the trace's
	opts  Options

	buffer   int64 // bytes that may wait for the disk; unused with the disk backing
	waitPart int64 // limit of buffer from a container's memory

	writer writer
	gopath *goWriter // nil: the assembly writes
	plain  *goWriter // gopath, if the usual scope begins and ends without its begin and end
	base   int64     // of a Handle's Loc

	blocks blockWriter
	kept   blockWriter // in a ring: for blocks that are never overwritten
	ring   *ring       // nil: not a ring

	segments atomic.Int64 // files of the ring
	flusher  *flusher.Flusher
	stacks   stacks
	walk     bool // frame pointers lead to a function's callers
	sampler  *heartbeat.Sampler
	beatMu   sync.Mutex // serializes beats: the ticker's, and Stop's
	quiet    quiet      // used by beats only
	counted  int64      // records, as last written in a beat; guarded by beatMu
	values   []format.FieldValue
	threads  []format.Thread
	trusted  bool
	last     sys.Reading // of the clocks
	slope    float64     // ticks per ns between the last two readings; 0: unknown
	ticker   sync.WaitGroup
	quit     chan struct{}
	gaps     [format.LossReasons]gap
	cost     int64 // of a scope, ps
	thin     int64 // thinned, unseen and unnamed, as last written; guarded by lockTable.mu
	unlooked int64
	noName   int64
	words    string

	watch   *watch      // nil: no triggers
	errand  chan func() // for the goroutine errands
	copying sync.Mutex  // held while a snapshot is written
	shut    bool        // no more snapshots; guarded by copying
	asked   uint64      // the last request from outside that was handled

	filter    glob.Filter // as set; guarded by control
	expr      atomic.Pointer[string]
	off       atomic.Bool // switched off from outside: nothing is recorded
	snapshots atomic.Int64
	failed    atomic.Pointer[error] // the last triggered snapshot's error, or that of a disk that was late

	losses      []uint64 // rows of counters, in chunk 0: see lose
	counts      counts
	unsure      bool   // a note records that they are unknown
	noLosses    uint32 // not 0: they are no longer updated
	doubleEnds  atomic.Int64
	foreignEnds atomic.Int64
	staleEnds   atomic.Int64
	argsCut     atomic.Int64
	unnamed     atomic.Int64 // goroutines without a name, because of namingAllowance
	thinned     atomic.Int64 // reported waits and holds without a record, because of the allowance
	unseen      atomic.Int64 // releases not checked, because of releaseAllowance
	lateEnds    atomic.Int64
	final       Statistics
	closed      atomic.Bool

	funcs atomic.Pointer[functions] // nil: functions are not recorded
}

// ticks converts a duration to ticks.
func (r *recorder) ticks(d time.Duration) int64 {
	return int64(float64(d) * float64(r.rate) / 1e9)
}

// tryBegin begins a scope in assembly; if it can't, start is 0 and loc is the reason.
func (r *recorder) tryBegin(head uint64, x *encoder) (loc, start int64) {
	if x == nil {
		return sys.BeginFast(head, r.gen)
	}
	return sys.BeginExt(head|format.ExtBit, r.gen, &x.w[0], x.units(), x.at)
}

// putFast implements put by the assembly.
func (r *recorder) putFast(rec *[4]uint64, x *encoder, count int64) {
	var ext *uint64
	var u int64
	if x != nil {
		u = x.units()
		ext = &x.w[0]
		rec[2] |= format.ExtBit
	}
	why := format.LossBusy
	for range attempts {
		loc, at := sys.PutFast(rec, r.gen, ext, u, count)
		if at != 0 {
			return
		}
		if w := r.mend(loc); w != 0 {
			why = w
			break
		}
	}
	r.losePut(why, count)
}

// losePut counts a record that put can't keep. An end apart has its own reason: its
// scope is in the trace, and shown as open.
func (r *recorder) losePut(why format.Loss, count int64) {
	if count == 0 {
		why = format.LossEnd
	}
	r.lose(why)
}

// attempts limits how often a record tries to find its place. Each failure means that
// the goroutine was moved to another P at the wrong moment.
const attempts = 64

// beginSlow supplies what kept the assembly from writing, and retries.
func (r *recorder) beginSlow(head uint64, x *encoder, reason int64) Handle {
	for range attempts {
		if why := r.mend(reason); why != 0 {
			r.lose(why)
			return Handle{}
		}
		var start int64
		if reason, start = r.tryBegin(head, x); start != 0 {
			return Handle{Loc: reason, Start: start}
		}
	}
	r.lose(format.LossBusy)
	return Handle{}
}

// mend gives the P a chunk or its thread an anchor, or returns why it can't.
func (r *recorder) mend(reason int64) format.Loss {
	if sys.NeedAnchor(reason) && r.fast.Anchor() {
		r.unname()
		return 0
	}
	idx, lost := r.pool.Take()
	if lost != 0 {
		return lost
	}
	testpoint.Here("chunk.taken")
	h := r.chunkHeader(format.ChunkRecords, format.PathAssembly, idx)
	if _, ok := r.fast.Install(&h, r.pool.Base()+uintptr(idx)*pool.ChunkSize, pool.ChunkSize, r.gen); !ok {
		return format.LossStop
	}
	testpoint.Here("chunk.installed")
	r.fast.Anchor()
	r.unname()
	testpoint.Here("chunk.anchored")
	return 0
}

// unname removes the name from the row of a goroutine that runs a callback from C code,
// if it inherited the name from an earlier thread, which is gone.
func (r *recorder) unname() {
	if r.fast.Inherited(r.goids.Get()) && strings.Contains(goroutineHead(), "locked to thread") {
		r.put(&[4]uint64{2: headTrack | format.NameEmpty<<48}, nil, 1)
	}
}

func (r *recorder) chunkHeader(k format.ChunkKind, p format.Path, idx int64) (h [8]uint64) {
	var b [format.ChunkHeaderSize]byte
	at, lap := r.pool.Place(idx)
	ch := format.ChunkHeader{Kind: k, Path: p, Index: uint32(at), Since: r.clock.Now(), Gen: lap}
	switch {
	case r.pool.Kept(idx):
		ch.Flags = format.FlagKept
	case r.ring != nil:
		ch.Number = uint32(idx)
	}
	format.PutChunkHeader(b[:], &ch)
	for i := range h {
		h[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return h
}

// late is the maximum age of an end's time when its path was mended. The thread's CPU
// clock is read now and extrapolated back to the end; after longer than that the thread
// may have left the CPU in between, so the end's time becomes now.
const late = 5 * time.Microsecond

// endFast handles an end that the assembly did not finish at once.
func (r *recorder) endFast(h Handle, at int64, x *encoder) {
	given := at != 0
	if !given {
		at = r.clock.Now()
	}
	var words *[2]uint64
	if x != nil {
		words = new([2]uint64)
	}
	for range attempts {
		reason := sys.EndFast(h.Loc, h.Start, at, words)
		if reason == 0 {
			if x != nil {
				x.w[2] = r.goids.Get() & format.MaxGoid // the goroutine that began it
				x.w[3] = r.headOf(h)
				r.putEnd(h, int64(words[0]), words[1], x)
			}
			return
		}
		if reason == sys.Foreign {
			var rec [4]uint64
			// Another goroutine may have ended it already.
			if reason = sys.Claim(h.Loc, h.Start, &rec); reason == 0 {
				r.foreignEnds.Add(1)
				r.endForeign(h, at, rec[2], x)
				return
			}
		}
		switch {
		case reason == sys.Late:
			r.lateEnds.Add(1)
			r.endApart(h, at, x, true)
			return
		case reason == sys.Flushed:
			if h.Start < r.began {
				r.staleEnds.Add(1)
				return
			}
			r.endApart(h, at, x, false)
			return
		case reason == sys.Ended:
			r.doubleEnds.Add(1)
			return
		case reason == sys.Stale:
			if r.ring != nil && h.Start >= r.began {
				r.endApart(h, at, x, false) // its chunk's number has been reused
				return
			}
			r.staleEnds.Add(1)
			return
		case r.mend(reason) != 0:
			r.lose(format.LossEnd)
			return
		}
		if now := r.clock.Now(); !given && now-at > r.ticks(late) {
			at = now
		}
	}
	r.lose(format.LossEnd)
}

// offset returns the file offset of a scope's record.
func (r *recorder) offset(h Handle) int64 { return h.Loc - r.base }

// endApart ends a scope whose chunk may be gone by a record of its own. late means that
// the record was also completed in place, when its chunk had begun to leave.
func (r *recorder) endApart(h Handle, at int64, x *encoder, late bool) {
	var buf [smallWords]uint64
	if x == nil {
		x = &encoder{w: buf[:], r: r}
		x.place(r.offset(h))
	}
	if r.ring != nil {
		off := r.offset(h)
		leaving := r.pool.State(off/pool.ChunkSize) == pool.Leaving
		head, ok := r.ring.closed(begun{off, h.Start}, at, leaving)
		if !ok {
			if !late { // else it was completed in time
				r.doubleEnds.Add(1)
			}
			return
		}
		if head == 0 && leaving {
			head = r.headOf(h) // still in memory, and not scanned yet
		}
		x.w[3] = head
	}
	r.putEnd(h, at, 0, x)
}

// endForeign ends a scope on another goroutine than the one that began it; head is word
// 2 of its record.
func (r *recorder) endForeign(h Handle, at int64, head uint64, x *encoder) {
	var buf [smallWords]uint64
	if x == nil {
		x = &encoder{w: buf[:], r: r}
		x.place(r.offset(h))
	}
	x.w[2], x.w[3] = head&format.MaxGoid, head
	r.putEnd(h, at, 0, x)
}

// putEnd writes an end as a record of its own. cpu is its word 3; x has the position of
// the begin.
func (r *recorder) putEnd(h Handle, at int64, cpu uint64, x *encoder) {
	if x.cut > 0 || x.short {
		r.argsCut.Add(1)
	}
	testpoint.Here("end.marked")
	r.put(&[4]uint64{uint64(at), uint64(h.Start), headEnd, cpu}, x, 0)
	testpoint.Here("end.put")
}

// headOf returns word 2 of a scope's record, whose chunk was in memory a moment ago, or
// 0 if it is gone.
func (r *recorder) headOf(h Handle) uint64 {
	off := r.offset(h)
	w := r.pool.Words(off / pool.ChunkSize)
	if w == nil {
		return 0
	}
	rec := w[off%pool.ChunkSize/8:]
	if atomic.LoadUint64(&rec[0]) != uint64(h.Start) {
		return 0
	}
	return atomic.LoadUint64(&rec[2])
}
