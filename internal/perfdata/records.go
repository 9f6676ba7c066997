package perfdata

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// The kinds of records that are parsed: enum perf_event_type, and from 64 on perf's own.
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordExit        = 4
	recordThrottle    = 5
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13

	recordAttr        = 64
	recordTracing     = 66
	recordBuildID     = 67
	recordAuxtrace    = 71
	recordEventUpdate = 78
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83

	// The highest defined kinds: CALLCHAIN_DEFERRED, SCHEDSTAT_DOMAIN.
	lastOfKernel, lastOfPerf = 22, 86
)

// record is a record of the file. Its bytes are in the reader's buffer.
type record struct {
	at   int64
	kind uint32
	misc uint16
	body []byte
}

const recordHead = 8

// scan calls visit with all records.
func (f *file) scan(ctx context.Context, visit func(record) error) error {
	const often = 64 // records between two checks of ctx
	size := int64(math.MaxInt64) - f.from
	if f.to > 0 {
		size = f.to - f.from
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f.in, f.from, size), 1<<16)
	buf := make([]byte, math.MaxUint16)
	for at, n := f.from, 0; ; n++ {
		if err := ctx.Err(); err != nil && n%often == 0 {
			return err
		}
		r, behind, err := f.next(in, buf, at)
		switch {
		case errors.Is(err, errEnd):
			return nil
		case f.open && errors.Is(err, io.ErrUnexpectedEOF):
			return nil // perf was killed in the middle of it
		case err != nil:
			return err
		}
		at += recordHead + int64(len(r.body))
		if err := visit(r); err != nil {
			return err
		}
		// Data that follows its record.
		if k, err := io.CopyN(io.Discard, in, behind); err != nil {
			return f.fail(at, "%d bytes should follow a record of kind %d, and the file ends after %d: %w", behind, r.kind, k, io.ErrUnexpectedEOF)
		}
		at += behind
	}
}

// errEnd marks the end of the records.
var errEnd = errors.New("no more records")

// next reads a record, and returns how many bytes of data follow it.
func (f *file) next(in io.Reader, buf []byte, at int64) (r record, behind int64, err error) {
	head := buf[:recordHead]
	if n, err := io.ReadFull(in, head); err != nil {
		if n > 0 || f.to > at {
			err = f.fail(at, "the file is truncated: it ends within the records: %w", io.ErrUnexpectedEOF)
		} else if errors.Is(err, io.EOF) {
			err = errEnd
		}
		return r, 0, err
	}
	size := f.order.Uint16(head[6:])
	r = record{at: at, kind: f.order.Uint32(head), misc: f.order.Uint16(head[4:])}
	if size < recordHead {
		return r, 0, f.fail(at, "invalid size of a record of kind %d: %d bytes; its head alone has %d", r.kind, size, recordHead)
	}
	if f.to > 0 && int64(size) > f.to-at {
		return r, 0, f.fail(at, "invalid size of a record of kind %d: %d bytes, and the records end after %d", r.kind, size, f.to-at)
	}
	r.body = buf[:size-recordHead]
	if _, err := io.ReadFull(in, r.body); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.ErrUnexpectedEOF
		}
		return r, 0, f.fail(at, "a record of kind %d has %d bytes, and the file ends within it: %w", r.kind, size, err)
	}
	switch c := (cursor{b: r.body, order: f.order}); r.kind {
	case recordTracing:
		behind = int64(c.u32()+7) &^ 7
	case recordAuxtrace:
		behind = int64(c.u64() & math.MaxInt64)
	}
	return r, behind, nil
}

// Fields of samples: enum perf_event_sample_format.
const (
	hasIP        = 1 << 0
	hasThread    = 1 << 1
	hasTime      = 1 << 2
	hasAddr      = 1 << 3
	hasRead      = 1 << 4
	hasChain     = 1 << 5
	hasID        = 1 << 6
	hasCPU       = 1 << 7
	hasPeriod    = 1 << 8
	hasStream    = 1 << 9
	hasRaw       = 1 << 10
	hasBranches  = 1 << 11
	hasUserStack = 1 << 13 // a copy of the stack
	hasIDFirst   = 1 << 16
)

// sample is a parsed sample.
type sample struct {
	event    int  // -1: of no event of the file; then no other field is set
	user     bool // the address is of a program, not of the kernel
	ip       uint64
	pid      uint32
	time     uint64
	chain    []byte // addresses, each 8 bytes
	branches []byte // from, to, flags; 8 bytes each, the last one first
}

// attrOf returns the index of the event with an id, or -1.
func (f *file) attrOf(id uint64) int {
	if i, ok := f.byID[id]; ok {
		return i
	}
	if len(f.attrs) == 1 { // it may have no ids
		return 0
	}
	return -1
}

// idOf returns the id of a sample, which is at the same place for all events.
func (f *file) idOf(body []byte) uint64 {
	has, at := f.attrs[0].has, 0
	if has&hasIDFirst == 0 {
		if has&hasID == 0 {
			return 0
		}
		for _, bit := range []uint64{hasIP, hasThread, hasTime, hasAddr} {
			if has&bit != 0 {
				at += 8
			}
		}
	}
	if at+8 > len(body) {
		return 0
	}
	return f.order.Uint64(body[at:])
}

// sample parses a sample.
func (f *file) sample(r record) (s sample, err error) {
	if len(f.attrs) == 0 {
		return s, f.fail(r.at, "a sample belongs to no event")
	}
	if s.event = f.attrOf(f.idOf(r.body)); s.event < 0 {
		return s, nil
	}
	a := &f.attrs[s.event]
	c := cursor{b: r.body, order: f.order}
	field := func(bit uint64) uint64 {
		if a.has&bit == 0 {
			return 0
		}
		return c.u64()
	}
	field(hasIDFirst)
	s.ip = field(hasIP)
	if a.has&hasThread != 0 {
		s.pid = c.u32()
		c.u32()
	}
	s.time = field(hasTime)
	for _, bit := range []uint64{hasAddr, hasID, hasStream, hasCPU, hasPeriod} {
		field(bit)
	}
	if a.has&hasRead != 0 {
		a.skipRead(&c)
	}
	if a.has&hasChain != 0 {
		s.chain = c.list(8)
	}
	if a.has&hasRaw != 0 {
		c.skip(int(c.u32()))
	}
	if a.has&hasBranches != 0 {
		s.branches = a.readBranches(&c)
	}
	const modes, user = 7, 2
	s.user = r.misc&modes == user
	if c.bad {
		return s, f.fail(r.at, "a sample of %s has %d bytes, too few for its contents", a.name, len(r.body))
	}
	return s, nil
}

// timeOf returns the time at the end of a record other than a sample; 0 if unknown.
func (f *file) timeOf(r record) uint64 {
	if len(f.attrs) == 0 {
		return 0
	}
	a := &f.attrs[0]
	if n := len(r.body); a.has&hasIDFirst != 0 && n >= 8 { // the last field, of these records
		if i := f.attrOf(f.order.Uint64(r.body[n-8:])); i >= 0 {
			a = &f.attrs[i]
		}
	}
	if !a.trailer || a.has&hasTime == 0 {
		return 0
	}
	at := len(r.body) - 8
	for _, bit := range []uint64{hasID, hasStream, hasCPU, hasIDFirst} {
		if a.has&bit != 0 {
			at -= 8
		}
	}
	if at < 0 {
		return 0
	}
	return f.order.Uint64(r.body[at:])
}

// skipRead skips the values of counters.
func (a *attr) skipRead(c *cursor) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	words := func(bits ...uint64) (n int) {
		for _, b := range bits {
			if a.readFormat&b != 0 {
				n++
			}
		}
		return n
	}
	if a.readFormat&group == 0 {
		c.skip(8 * (1 + words(enabled, running, id, lost)))
		return
	}
	n := c.u64()
	c.skip(8 * words(enabled, running))
	each := 8 * (1 + words(id, lost))
	if n > uint64(len(c.b)/each) {
		c.b, c.bad = nil, true
		return
	}
	c.skip(int(n) * each)
}

// Fields of branch records: enum perf_branch_sample_type.
const (
	branchAny      = 1 << 3
	branchAnyCall  = 1 << 4
	branchStack    = 1 << 11 // they are calls that have not returned
	branchCall     = 1 << 13
	branchHardware = 1 << 17 // preceded by an index of the hardware

	branchSize = 24
)

func (a *attr) readBranches(c *cursor) []byte {
	if a.branches&branchHardware == 0 {
		return c.list(branchSize)
	}
	n := c.u64()
	c.u64()
	if n > uint64(len(c.b)/branchSize) {
		c.b, c.bad = nil, true
		return nil
	}
	return c.take(int(n) * branchSize)
}

// Markers in a chain of callers that give the context of the following addresses:
// PERF_CONTEXT_USER and others, up to PERF_CONTEXT_MAX.
const (
	contextUser  = 1<<64 - 512
	contextFirst = 1<<64 - 4095
)

// caller returns the return address of the program's innermost function; 0 if there is
// none.
func (s *sample) caller(order binary.ByteOrder) uint64 {
	user, n := s.user, 0
	for b := s.chain; len(b) >= 8; b = b[8:] {
		switch a := order.Uint64(b); {
		case a >= contextFirst:
			user = a == contextUser
		case user:
			if n++; n == 2 { // the first is the sample's own
				return a
			}
		}
	}
	return 0
}
