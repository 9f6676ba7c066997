package trace

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// schedRefs holds the locations of the blocks of the scheduler and of locks: they are many, and are
// read only on demand.
type schedRefs struct {
	parts    []partRef // of Go execution traces
	switches []format.Loc
	locks    []format.Loc
	samples  []format.Loc
}

type partRef struct {
	stream, seq uint32
	loc         format.Loc
	size        int64
}

// drop drops the locations for which gone returns true.
func (s *schedRefs) drop(gone func(loc format.Loc) bool) {
	s.parts = slices.DeleteFunc(s.parts, func(p partRef) bool { return gone(p.loc) })
	s.switches = slices.DeleteFunc(s.switches, gone)
	s.locks = slices.DeleteFunc(s.locks, gone)
	s.samples = slices.DeleteFunc(s.samples, gone)
}

// Only the locations of such blocks are kept.

func (t *Trace) goTraceBlock(p []byte, loc format.Loc) error {
	vs, err := values(format.BlockGoTrace, p)
	if err == nil {
		t.sched.parts = append(t.sched.parts, partRef{uint32(vs[0].N), uint32(vs[1].N), loc, int64(len(vs[2].B))})
	}
	return err
}

func (t *Trace) switchBlock(p []byte, loc format.Loc) error {
	_, _, err := format.CheckSwitches(p)
	if err == nil {
		t.sched.switches = append(t.sched.switches, loc)
	}
	return err
}

func (t *Trace) lockBlock(p []byte, loc format.Loc) error {
	_, err := format.DecodeLockSums(p)
	if err == nil {
		t.sched.locks = append(t.sched.locks, loc)
	}
	return err
}

// sortedParts returns the parts of Go execution traces by stream and part.
func (t *Trace) sortedParts() []partRef {
	parts := slices.Clone(t.sched.parts)
	slices.SortStableFunc(parts, func(a, b partRef) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.seq, b.seq))
	})
	return parts
}

// GoTrace is a Go execution trace that was recorded with the trace.
type GoTrace struct {
	Stream uint32
	Size   int64
	// Missing means that a part in the middle, or the first one, is not there: a ring has
	// overwritten it, or there was no room for it. The readable bytes end before it.
	Missing bool
	parts   []partRef
	t       *Trace
}

// GoTraces lists the Go execution traces, in the order in which they were taken.
func (t *Trace) GoTraces() []GoTrace {
	parts := t.sortedParts()
	var all []GoTrace
	for i, p := range parts {
		if i == 0 || parts[i-1].stream != p.stream {
			all = append(all, GoTrace{Stream: p.stream, t: t})
		}
		g := &all[len(all)-1]
		switch {
		case int(p.seq) == len(g.parts) && !g.Missing:
			g.parts = append(g.parts, p)
			g.Size += p.size
		case int(p.seq) >= len(g.parts):
			g.Missing = true
		}
	}
	return all
}

// Reader returns a reader of its bytes, up to the first missing part.
func (g *GoTrace) Reader() io.Reader { return &partReader{t: g.t, parts: g.parts} }

type partReader struct {
	t     *Trace
	parts []partRef
	b     blockReader
	rest  []byte
}

func (r *partReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if len(r.parts) == 0 {
			return 0, io.EOF
		}
		next := r.parts[0]
		r.parts = r.parts[1:]
		typ, payload, err := r.b.read(r.t, next.loc)
		if err == errGone || err == nil && typ != format.BlockGoTrace {
			r.parts = nil // overwritten, or changed, since
			return 0, io.ErrUnexpectedEOF
		}
		if err != nil {
			return 0, err
		}
		if vs, err := values(typ, payload); err == nil {
			r.rest = vs[2].B
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// EachSwitches calls f with the threads' switches, in the order written: of each thread by time.
// The argument is reused from call to call.
func (t *Trace) EachSwitches(f func(*format.Switches) bool) error {
	var s format.Switches
	return t.eachLater(t.sched.switches, format.BlockSwitch, func(p []byte) bool {
		var err error
		if s, err = format.DecodeSwitches(s.List[:0], p); err != nil {
			return true
		}
		return f(&s)
	})
}

// HasSwitches reports whether there are any switches.
func (t *Trace) HasSwitches() bool { return len(t.sched.switches) > 0 }

// EachLockSums calls f with the sums of locks, in the order written.
func (t *Trace) EachLockSums(f func(*format.LockSums) bool) error {
	return t.eachLater(t.sched.locks, format.BlockLock, func(p []byte) bool {
		l, err := format.DecodeLockSums(p)
		l.Name = t.objectNames().nameOf(l.Name)
		return err != nil || !t.selectsLock(l.Addr) || f(&l)
	})
}

// asWritten sorts the Locs of blocks in the order in which they were written.
func (t *Trace) asWritten(locs []format.Loc) []format.Loc {
	type ref struct {
		age int64
		loc format.Loc
	}
	refs := make([]ref, 0, len(locs))
	var last *chunkInfo
	for _, loc := range locs {
		if last == nil || last.loc != t.chunkLoc(loc) {
			last = t.chunkOf(loc)
		}
		if last != nil { // else it was overwritten
			refs = append(refs, ref{t.addr.age(last), loc})
		}
	}
	slices.SortFunc(refs, func(a, b ref) int { return cmp.Or(cmp.Compare(a.age, b.age), cmp.Compare(a.loc, b.loc)) })
	sorted := make([]format.Loc, len(refs))
	for i, r := range refs {
		sorted[i] = r.loc
	}
	return sorted
}

func (t *Trace) eachLater(locs []format.Loc, typ format.BlockType, f func(p []byte) bool) error {
	var b blockReader
	for _, loc := range t.asWritten(locs) {
		got, p, err := b.read(t, loc)
		if err == errGone || err == nil && got != typ {
			continue
		}
		if err != nil {
			return err
		}
		if !f(p) {
			return nil
		}
	}
	return nil
}

// blockReader reads blocks at known locations; small neighbours cost one read.
type blockReader struct {
	buf []byte
	at  format.Loc // location of buf
	n   int        // valid bytes in buf
}

// readAhead is the number of bytes that are read for a block of unknown length. It is less than a
// chunk: blocks that are read out of order would cost a chunk each.
const readAhead = 16 << 10

// read returns the block at loc; the type is 0 if there is no sound one any more. The payload is
// valid until the next call.
func (b *blockReader) read(t *Trace, loc format.Loc) (typ format.BlockType, payload []byte, err error) {
	if at := loc - b.at; at >= 0 && at < format.Loc(b.n) {
		if typ, payload = whole(b.buf[at:b.n]); typ != 0 {
			return typ, payload, nil
		}
	}
	left := int(t.header.ChunkSize) - int(loc-t.chunkLoc(loc))
	for want := min(readAhead, left); ; {
		if err := b.fill(t, loc, want); err != nil {
			return 0, nil, err
		}
		if typ, payload = whole(b.buf[:b.n]); typ != 0 || b.n < format.BlockHeaderSize {
			return typ, payload, nil
		}
		need := format.BlockHeaderSize + int64(binary.LittleEndian.Uint32(b.buf))
		if need = (need + 7) &^ 7; need <= int64(want) || need > int64(left) {
			return 0, nil, nil // not the block that was found there
		}
		want = int(need)
	}
}

// fill reads n bytes at loc.
func (b *blockReader) fill(t *Trace, loc format.Loc, n int) error {
	if cap(b.buf) < n {
		b.buf = make([]byte, n)
	}
	b.n = 0
	got, err := t.addr.read(b.buf[:n], loc)
	if err == nil {
		b.at, b.n = loc, got
	}
	return err
}

// whole returns the block at the head of b. The type is 0 if b does not have all of it, or it is
// not sound.
func whole(b []byte) (format.BlockType, []byte) {
	t, p, size, err := format.DecodeBlock(b)
	if err != nil || size == 0 {
		return 0, nil
	}
	return t, p
}

// ReadSwitches reads the switch block at a Loc and appends its switches to dst. ok is false if a
// ring has overwritten it.
type ReadSwitches func(dst []format.Switch, at format.Loc) (s format.Switches, ok bool, err error)

// SwitchBlocks returns the Locs of switch blocks, in the order written, and a function that reads
// them in any order.
func (t *Trace) SwitchBlocks() ([]format.Loc, ReadSwitches) {
	var r blockReader
	return t.asWritten(t.sched.switches), func(dst []format.Switch, at format.Loc) (s format.Switches, ok bool, err error) {
		typ, p, err := r.read(t, at)
		if err == errGone || err == nil && typ != format.BlockSwitch {
			return s, false, nil
		}
		if err == nil {
			s, err = format.DecodeSwitches(dst, p)
		}
		return s, err == nil, err
	}
}
