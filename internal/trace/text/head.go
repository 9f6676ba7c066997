package text

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// The symbols of the header's numbers.
var (
	clocks   = map[string]int64{"tsc": int64(format.ClockTSC), "monotonic": int64(format.ClockMonotonic)}
	paths    = map[string]int64{"assembly": int64(format.PathAssembly), "go": int64(format.PathGo), "pure": int64(format.PathPure)}
	backings = map[string]int64{"disk": int64(format.BackingDisk), "heap": int64(format.BackingHeap), "shm": int64(format.BackingShm)}
	flags    = map[string]int64{"none": 0, "ends": format.FlagEnds, "final": format.FlagFinal, "kept": format.FlagKept}
	kinds    = map[string]int64{"records": int64(format.ChunkRecords), "blocks": int64(format.ChunkBlocks)}
)

// symbol takes key=SYMBOL or key=N.
func (l *line) symbol(key string, table map[string]int64, otherwise int64) (int64, error) {
	v, ok := l.value(key)
	if !ok {
		return otherwise, nil
	}
	var n int64
	for _, w := range strings.Split(v, ",") {
		if s, ok := table[w]; ok {
			n |= s
			continue
		}
		m, err := parseInt(w)
		if err != nil {
			return 0, fmt.Errorf("%s=%s: unknown", key, v)
		}
		n |= m
	}
	return n, nil
}

// symbolOf returns the symbol of n, or n.
func symbolOf(table map[string]int64, n int64) string {
	for s, v := range table {
		if v == n {
			return s
		}
	}
	return itoa(n)
}

func itoa(n int64) string   { return strconv.FormatInt(n, 10) }
func quote(s string) string { return strconv.Quote(s) }
func utoa(n uint64) string  { return strconv.FormatUint(n, 10) }
func flagsOf(f int64) string { // for f below 8
	return [...]string{"none", "ends", "final", "ends,final", "kept", "ends,kept", "final,kept", "ends,final,kept"}[f]
}

var headerKeys = []string{"major", "minor", "chunk", "page", "pid", "witness", "start", "mono", "wall", "rate", "limit", "ring", "segments"}

func (a *assembler) headerLine(l *line) error {
	if a.begun {
		return errors.New("a second header")
	}
	major, minor, chunk, page, pid := int64(format.Major), int64(format.Minor), int64(4096), int64(4096), int64(1)
	witness, start, mono, wall, rate, limit, ring, segments := int64(0), int64(1000), int64(0), int64(0), int64(1e9), int64(0), int64(0), int64(0)
	if err := l.numbers(headerKeys, &major, &minor, &chunk, &page, &pid, &witness, &start, &mono, &wall, &rate, &limit, &ring, &segments); err != nil {
		return err
	}
	clock, err1 := l.symbol("clock", clocks, int64(format.ClockTSC))
	path, err2 := l.symbol("path", paths, int64(format.PathAssembly))
	backing, err3 := l.symbol("backing", backings, int64(format.BackingDisk))
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if chunk < 256 || chunk > 16<<20 {
		return fmt.Errorf("chunk=%d is not supported", chunk)
	}
	h := format.Header{
		Major: uint16(major), Minor: uint16(minor), ChunkSize: uint32(chunk), PageSize: uint32(page), PID: uint32(pid),
		Clock: format.Clock(clock), Path: format.Path(path), Backing: format.Backing(backing), Witness: uint32(witness),
		StartTicks: start, StartMono: mono, StartWall: wall, TickRate: rate, Limit: limit, Ring: uint32(ring), Segments: uint16(segments),
	}
	if v, ok := l.value("id"); ok {
		id, err := hex.DecodeString(v)
		if err != nil || len(id) > len(h.ID) {
			return fmt.Errorf("id=%s: not up to 16 bytes", v)
		}
		copy(h.ID[:], id)
	}
	a.header, a.begun = h, true
	if err := a.newChunk(); err != nil {
		return err
	}
	b := format.AppendHeader(nil, &h)
	if err := a.crc(l, b[format.HeaderSize:]); err != nil {
		return err
	}
	a.endAt = format.StateOffset + format.StateEnd
	return a.put(b)
}

// crc takes crc=N or crc=bad and changes the four bytes at b.
func (a *assembler) crc(l *line, b []byte) error {
	v, ok := l.value("crc")
	if !ok {
		return nil
	}
	le := binary.LittleEndian
	if v == "bad" {
		le.PutUint32(b, ^le.Uint32(b))
		return nil
	}
	n, err := parseInt(v)
	if err != nil {
		return fmt.Errorf("crc=%s: not a number", v)
	}
	le.PutUint32(b, uint32(n))
	return nil
}

func (a *assembler) stateLine(l *line) error {
	if len(a.out) != int(a.header.ChunkSize) {
		return errors.New("state follows header")
	}
	var closed, tick, lost, overwritten, until, joined, files int64
	end := int64(-1)
	if err := l.numbers([]string{"closed", "tick", "end", "lost", "overwritten", "until", "joined", "files"}, &closed, &tick, &end, &lost, &overwritten, &until, &joined, &files); err != nil {
		return err
	}
	le := binary.LittleEndian
	s := a.out[format.StateOffset:]
	le.PutUint64(s[format.StateClosed:], uint64(closed))
	le.PutUint64(s[format.StateTick:], uint64(tick))
	le.PutUint64(s[format.StateLost:], uint64(lost))
	le.PutUint64(s[format.StateOverwritten:], uint64(overwritten))
	le.PutUint64(s[format.StateUntil:], uint64(until))
	le.PutUint64(s[format.StateJoined:], uint64(joined))
	le.PutUint64(s[format.StateFiles:], uint64(files))
	if end >= 0 {
		le.PutUint64(s[format.StateEnd:], uint64(end))
		a.endAt = 0
	}
	return nil
}

func (a *assembler) chunkLine(l *line) error {
	kind := l.first()
	k, ok := kinds[kind]
	if !ok {
		n, err := parseInt(strings.TrimPrefix(kind, "kind-"))
		if err != nil {
			return fmt.Errorf("%q is no kind of chunk", kind)
		}
		k = n
	}
	if err := a.newChunk(); err != nil {
		return err
	}
	index, owner, gen := (a.base+int64(a.pos))/int64(a.header.ChunkSize), int64(0), int64(1)
	since, sealed, number, final := a.header.StartTicks, int64(0), int64(0), int64(0)
	if l.flag("sealed") {
		a.sealAt = a.pos + format.ChunkSealedOffset
	}
	err := l.numbers([]string{"owner", "since", "gen", "sealed", "index", "number", "final"}, &owner, &since, &gen, &sealed, &index, &number, &final)
	path, err1 := l.symbol("path", paths, int64(a.header.Path))
	flag, err2 := l.symbol("flags", flags, 0)
	if err := errors.Join(err, err1, err2); err != nil {
		return err
	}
	if a.header.Ring != 0 && number != 0 {
		a.chunkLoc = int64(uint32(number)) * int64(a.header.ChunkSize)
	}
	var b [format.ChunkHeaderSize]byte
	format.PutChunkHeader(b[:], &format.ChunkHeader{
		Kind: format.ChunkKind(k), Path: format.Path(path), Index: uint32(index), Owner: uint32(owner),
		Since: since, Gen: uint32(gen), Flags: uint32(flag), Sealed: sealed, Number: uint32(number), Final: final,
	})
	return a.put(b[:])
}
