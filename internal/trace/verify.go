package trace

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
)

// Finding is a violation of a rule of the format.
type Finding struct {
	Offset int64
	Rule   string // its name in docs/format.md
	Text   string // a sentence
}

// rules lists the rules that Verify checks, by the Rule of their findings.
var rules = []struct{ Name, Doc string }{
	{"header-values", "clock, path, backing and witnesses are values of this version, the page size is a power of two; a ring has at most half as many chunks as there are numbers; segments is 0 in a trace that is read as one file"},
	{"header-reserved", "bytes of chunk 0 outside its fields are zero"},
	{"state", "closed is 0 or 1; tick and until are 0 or a time from the start on; lost and overwritten are not negative; overwritten and until are 0 without a ring; files is at most segments; joined is 0, or 1 with the backing shm"},
	{"state-end", "end is a multiple of the chunk size within the file (where the hot part is missing: or behind); in a closed trace it is where the last chunk ends (in a ring: or behind)"},
	{"file-size", "the file's size is a multiple of the chunk size"},
	{"chunk-header", "a chunk's magic, index and sealed size are valid"},
	{"chunk-values", "a chunk's kind, path and flags are values of this version, its generation is 1 (in a ring: at least 1), its reserved bytes are zero"},
	{"chunk-number", "in a ring a chunk has a unique number from 1 to 16,773,119; kept chunks, and those of other traces, have none"},
	{"chunk-kept", "only a ring's chunks of blocks are kept"},
	{"ring-size", "no more chunks have numbers than the ring has"},
	{"chunk-since", "a chunk is handed out after the start"},
	{"chunk-unborn", "chunks that were not handed out are zero (in a ring: once it is closed), but for a header that was being stored when the writer was killed"},
	{"chunk-sealed", "a final chunk is sealed; sealed covers the header, in units of 32 bytes (blocks: 8)"},
	{"chunk-tail", "bytes behind a chunk's end are zero (assembly path: or left by a begin that was retried elsewhere)"},
	{"record-hole", "no place is skipped (in a snapshot, but in the assembly path: or its record was about to be begun)"},
	{"record-orphan", "every extension has its record"},
	{"record-start", "a record's start is a time, and but for ends not before its chunk's since"},
	{"record-order", "in the assembly path, records but for ends, waits and holds lie in the order of their starts"},
	{"record-kind", "a record's kind is of this version"},
	{"record-name", "a record's name, and a key, is defined; not so where the hot part is missing, which may have the name's block"},
	{"record-words", "words 1 and 3 match the kind's description"},
	{"record-stop", "a scope's stop is a time, not before its start"},
	{"record-cpu", "CPU time is at most wall time, and exact only below 20 µs; in a merged trace, where Go execution traces supplied them, at any length"},
	{"record-open", "an open record's word 1 has the thread of its anchor (assembly path) or its start (other paths)"},
	{"record-anchor", "anchors are in chunks of the assembly path, one before all other records"},
	{"ext-missing", "where the extension bit is set a whole extension follows"},
	{"ext-form", "an extension is exactly the encoding of its slots: fewest units, zeros between and behind"},
	{"ext-slots", "slots are of this version, have a value that their type can have, a key is followed by its value, and addresses are the kind's or a link's"},
	{"ext-fixed", "the slots that a kind always has come first"},
	{"end-flag", "a chunk with ends apart has the flag ends"},
	{"end-begin", "an end's begin is an open scope with that start, goroutine and (if the end says it) word 2 but for the extension bit, and begins before it; in a ring that has overwritten it, the end or a carry describes it, unless some were lost with the reason open"},
	{"end-double", "no scope ends twice, or but in place and apart at the same time"},
	{"end-process", "a process scope ends apart"},
	{"block-whole", "a block fits its chunk and its checksum is right"},
	{"block-form", "a block's type is of this version, its payload has its type's length, its reserved bytes are zero"},
	{"block-time", "a block's times are from the start on, and in order"},
	{"block-name", "a name block names an id from 2 on, once"},
	{"block-calib", "calibrations advance on both clocks"},
	{"block-beat", "a beat's fields are of this version, each once; cumulative ones never decrease"},
	{"block-stack", "a frame, a stack, the addresses of one are defined once, with what it names before it; a count's name and stack are defined, its calls are above 0"},
	{"block-kept", "in a ring names, facts, frames, stacks and their addresses, files, clock breaks and the stop are in kept chunks, and nothing else, except a joined Go execution trace"},
	{"block-carry", "a carry is a ring's, of a place where a record can be, written after its record began (and ended); where its loc names a chunk, the record there is the same"},
	{"block-gotrace", "each part of a Go execution trace exists once"},
	{"block-switch", "a thread's switches follow those of the block before"},
	{"block-samples", "samples of a thread by one counter follow those of the block before, and their stacks are defined"},
	{"block-file", "each part of a file exists once and inflates to its length, and a file's parts cover all of it"},
	{"block-lock", "a lock's name is defined"},
	{"block-member", "a process's parent exists, with a lower number, and so does a process that has Go execution traces"},
	{"block-stop", "a closed trace has one stop block, its last block; one that is not closed has none"},
}

// maxFindings is the number of findings at which Verify stops collecting.
const maxFindings = 1000

// Verify checks all promises of docs/format.md, including those whose violation the reader
// tolerates. A trace that is being written may have findings that it will not have once closed. The
// error is that of a failed read or an unreadable header.
func Verify(r io.ReaderAt, size int64) ([]Finding, error) {
	t, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	ends, err := t.endsApart()
	if err != nil {
		return nil, err
	}
	v := &checker{verifier: &verifier{t: t, ends: ends}}
	if err := v.fileHeader(); err != nil {
		return nil, err
	}
	// Blocks first: records are checked against the names.
	places := v.places()
	for i := range places {
		if !places[i].records() {
			if err := v.chunk(&places[i]); err != nil {
				return nil, err
			}
		}
	}
	v.blocksDone()
	if err := v.allRecords(slices.DeleteFunc(places, func(p checkedPlace) bool { return !p.records() })); err != nil {
		return nil, err
	}
	if err := v.carried(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Rule, b.Rule))
	})
	return v.found, nil
}

// verifier is one run of Verify. While several goroutines check records, only inOrder's functions
// change it.
type verifier struct {
	t    *Trace
	ends *endIndex

	named  [format.MaxNames]bool
	blocks verifiedBlocks
	stacks verifiedStacks
	ring   verifiedRing

	switched map[[2]uint32]int64 // by process and thread: the end of its last block of switches
}

// checker checks the chunks of a verifier, one at a time.
type checker struct {
	*verifier
	found []Finding
	apart bool    // others check at the same time, so inOrder's functions must wait
	later []later // the waiting functions

	buf   chunkBuf
	bytes []byte // the chunk as it is
	kept  bool   // it is a chunk of blocks that is kept
	cache blockCache
	slots []format.Slot
	again []byte // an extension encoded from its slots
	exact int64  // a duration in ticks that is known to be short enough to be exact
	err   error  // a failed read
}

// later is a function that waits, behind so many findings.
type later struct {
	found int
	do    func(v *checker)
}

// inOrder calls f when all earlier chunks have been checked, with the checker that collects f's
// findings: f checks chunks against each other.
func (v *checker) inOrder(f func(v *checker)) {
	if v.apart {
		v.later = append(v.later, later{len(v.found), f})
	} else {
		f(v)
	}
}

func (v *checker) add(off int64, rule, text string, args ...any) {
	if len(v.found) < maxFindings {
		v.found = append(v.found, Finding{off, rule, fmt.Sprintf(text, args...)})
	}
}

// check adds a finding unless ok.
func (v *checker) check(ok bool, off int64, rule, text string, args ...any) {
	if !ok {
		v.add(off, rule, text, args...)
	}
}

// firstNonzero returns the index of the first byte in b that is not zero, -1 if there is none.
func firstNonzero(b []byte) int {
	at := 0
	for at+8 <= len(b) && binary.LittleEndian.Uint64(b[at:]) == 0 {
		at += 8
	}
	for ; at < len(b); at++ {
		if b[at] != 0 {
			return at
		}
	}
	return -1
}

func (v *checker) fileHeader() error {
	v.bytes = make([]byte, v.t.header.ChunkSize)
	if _, err := v.t.readAt(v.bytes, 0); err != nil {
		return err
	}
	v.headerValues()
	v.headerReserved()
	v.headerState()
	v.ringHeader()
	t := v.t
	v.check(t.size%int64(t.header.ChunkSize) == 0, t.size, "file-size", "the file ends %d bytes into a chunk", t.size%int64(t.header.ChunkSize))
	return nil
}

func (v *checker) headerValues() {
	h := &v.t.header
	v.check(h.Clock == format.ClockTSC || h.Clock == format.ClockMonotonic, 24, "header-values", "the clock is %v", h.Clock)
	v.check(h.Path >= format.PathAssembly && h.Path <= format.PathPure, 28, "header-values", "the path is %v", h.Path)
	v.check(h.Backing >= format.BackingDisk && h.Backing <= format.BackingShm, 30, "header-values", "the backing is %v", h.Backing)
	v.check(h.Witness < 8, 32, "header-values", "the witnesses are %#x", h.Witness)
	v.check(h.PageSize >= 512 && h.PageSize&(h.PageSize-1) == 0, 16, "header-values", "the page size is %d", h.PageSize)
	v.check(h.Clock != format.ClockMonotonic || h.TickRate == 1e9, 76, "header-values", "the monotonic clock has %d ticks per second", h.TickRate)
}

func (v *checker) headerReserved() {
	for _, part := range v.t.header.Reserved() {
		v.zero(v.bytes[part[0]:part[1]], int64(part[0]), "header-reserved", "reserved bytes are not zero")
	}
}

func (v *checker) headerState() {
	const at = format.StateOffset
	t, h, s := v.t, &v.t.header, &v.t.state
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(v.bytes[at+off:]) }
	closed, joined := word(format.StateClosed), word(format.StateJoined)
	v.check(closed <= 1, at+format.StateClosed, "state", "closed is %d", closed)
	v.check(s.Tick == 0 || s.Tick >= h.StartTicks && s.Tick < format.MaxTicks, at+format.StateTick, "state", "the last round's tick is %d", s.Tick)
	v.check(s.Lost >= 0, at+format.StateLost, "state", "%d records are lost", s.Lost)
	v.check(joined == 0 || joined == 1 && h.Backing == format.BackingShm, at+format.StateJoined, "state", "joined is %d, and the backing is %v", joined, h.Backing)
	v.check(s.End >= 0 && s.End%int64(h.ChunkSize) == 0 && (s.End <= t.size || t.Cool()), at+format.StateEnd, "state-end", "chunks end at %d in a file of %d bytes", s.End, t.size)
	v.check(!s.Closed || s.End >= t.used && t.addr.unused(t.used, s.End) == 0, at+format.StateEnd, "state-end", "chunks end at %d, and the last one at %d", s.End, t.used)
}

// zero adds a finding if b, which is at off, is not zero.
func (v *checker) zero(b []byte, off int64, rule, text string) {
	if i := firstNonzero(b); i >= 0 {
		v.add(off+int64(i), rule, "%s", text)
	}
}

// chunk checks the chunk at the place p.
func (v *checker) chunk(p *checkedPlace) error {
	if v.bytes == nil {
		v.bytes = make([]byte, v.t.header.ChunkSize)
	}
	c, ok, bad, err := v.t.places().ReadChunk(v.bytes, p.at)
	switch {
	case err != nil:
		return ioError(v.t.path, p.at, err)
	case bad != nil:
		v.add(p.at, "chunk-header", "%v", bad)
	case !ok:
		v.unborn(p.at)
	case (c.Kind == format.ChunkRecords) == p.records():
		v.chunkHeader(&c.ChunkHeader, p.at)
		return v.contents(&c, p.chunk, p.at)
	case p.chunk == nil:
		v.ringChunk(&c.ChunkHeader, p.at) // adds why it is not in the index
	}
	return nil
}

// unborn checks a place where no chunk was handed out. A ring zeroes a header first, and its chunk
// then. The magic of a header is stored last.
func (v *checker) unborn(off int64) {
	born := 0
	if !v.t.state.Closed {
		born = format.ChunkHeaderSize
	}
	if !v.t.overwrites() {
		v.zero(v.bytes[born:], off+int64(born), "chunk-unborn", "no chunk was handed out here, and there is something")
	}
}

func (v *checker) chunkHeader(h *format.ChunkHeader, off int64) {
	records := h.Kind == format.ChunkRecords
	v.check(records || h.Kind == format.ChunkBlocks, off+4, "chunk-values", "the chunk's kind is %d", h.Kind)
	v.check(h.Path >= format.PathAssembly && h.Path <= format.PathPure, off+5, "chunk-values", "the chunk's path is %v", h.Path)
	v.check(h.Flags < 8, off+28, "chunk-values", "the chunk's flags are %#x", h.Flags)
	v.check(firstNonzero(v.bytes[6:8]) < 0 && firstNonzero(v.bytes[44:format.ChunkFinalOffset]) < 0 && firstNonzero(v.bytes[format.ChunkFinalOffset+8:format.ChunkHeaderSize]) < 0, off, "chunk-values", "reserved bytes of the chunk's header are not zero")
	v.ringChunk(h, off)
	v.check(h.Since >= v.t.header.StartTicks, off+16, "chunk-since", "the chunk was handed out at tick %d, before the start", h.Since)
	if h.Sealed == 0 {
		v.check(h.Flags&format.FlagFinal == 0, off+28, "chunk-sealed", "the chunk is final and not sealed")
		return
	}
	unit := int64(8)
	if records {
		unit = format.RecordSize
	}
	v.check(h.Sealed >= format.ChunkHeaderSize && h.Sealed%unit == 0, off+32, "chunk-sealed", "the chunk is sealed at %d", h.Sealed)
	if !records || h.Path != format.PathAssembly {
		v.zero(v.bytes[h.Sealed:], off+h.Sealed, "chunk-tail", "behind the chunk's end there is something")
	}
}

// contents checks the contents of the chunk c, whose entry in the index is known.
func (v *checker) contents(c *chunks.Chunk, known *chunkInfo, off int64) error {
	switch c.Kind {
	case format.ChunkBlocks:
		v.kept = c.Flags&format.FlagKept != 0
		v.blockChunk(c.Blocks(), off)
	case format.ChunkRecords:
		return v.recordChunk(c, known)
	}
	return nil
}
