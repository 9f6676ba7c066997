package trace

import (
	"encoding/binary"
	"fmt"

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
	{"record-cpu", "CPU time is at most wall time, and exact only below 20 µs; in a merged trace or an excerpt, where Go execution traces supplied them, at any length, and by a thousandth more"},
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
	{"block-goroutine", "a goroutine's stacks are defined"},
	{"block-file", "each part of a file exists once and inflates to its length, and a file's parts cover all of it"},
	{"block-lock", "a lock's name is defined"},
	{"block-member", "a process's parent exists, with a lower number, and so does a process that has Go execution traces"},
	{"block-stop", "a closed trace has one stop block, its last block; one that is not closed has none"},
}

// maxFindings is the number of findings at which Verify stops collecting.
const maxFindings = 1000

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

	buf     chunkBuf
	bytes   []byte // the chunk as it is
	kept    bool   // it is a chunk of blocks that is kept
	cache   blockCache
	slots   []format.Slot
	encoded []byte // an extension encoded from its slots
	exact   int64  // a duration in ticks that is known to be short enough to be exact
	err     error  // a failed read
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

// zero adds a finding if b, which is at off, is not zero.
func (v *checker) zero(b []byte, off int64, rule, text string) {
	if i := firstNonzero(b); i >= 0 {
		v.add(off+int64(i), rule, "%s", text)
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
