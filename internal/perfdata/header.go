package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
)

// file is a perf.data file being read.
type file struct {
	in       io.ReaderAt
	path     string
	order    binary.ByteOrder
	from, to int64 // bounds of the records; to is 0 if they end with the file
	pipe     bool  // perf wrote into a pipe: attrs and features are records
	open     bool  // perf did not end: the length of the records was never written

	attrs  []attr
	byID   map[uint64]int // indexes of attrs
	builds map[string]string
	cut    int64 // number of unused features that the file's end cuts off
	facts
}

// facts are properties of the recording; "": unknown.
type facts struct{ host, arch, command string }

// attr is an event, and the fields of its samples: struct perf_event_attr.
type attr struct {
	name       string
	kind       uint32
	config     uint64
	has        uint64 // sample_type
	readFormat uint64
	branches   uint64 // branch_sample_type
	trailer    bool   // other records end in the time and the process too
}

// ErrFormat reports that a file is not perf's.
var ErrFormat = errors.New("it is not perf.data: it does not begin with PERFILE2")

const (
	headerSize    = 104
	oldestAttr    = 64      // bytes of struct perf_event_attr in its first version
	mostAttrs     = 1 << 16 // also maximum number of ids of one
	mostIDs       = 1 << 21 // ids of all events
	mostOfFeature = 64 << 20
)

// The features that are read.
const (
	featureBuildID   = 2
	featureHost      = 3
	featureArch      = 6
	featureCommand   = 11
	featureEventDesc = 12
)

// fail returns an error at an offset of the file.
func (f *file) fail(at int64, format string, args ...any) error {
	return fmt.Errorf("reading %s at byte %d: %w", f.path, at, fmt.Errorf(format, args...))
}

// read returns n bytes at an offset. They are read piecemeal, since n comes from the
// file.
func (f *file) read(at, n int64, what string) ([]byte, error) {
	if at < 0 || n < 0 || n > mostOfFeature {
		return nil, f.fail(at, "invalid size or offset of %s: %d bytes at byte %d", what, n, at)
	}
	b, err := io.ReadAll(io.NewSectionReader(f.in, at, n))
	if err == nil && int64(len(b)) < n {
		err = fmt.Errorf("%d bytes are needed, and the file ends after %d: %w", n, len(b), io.ErrUnexpectedEOF)
	}
	if err != nil {
		return nil, f.fail(at, "%s: %w", what, err)
	}
	return b, nil
}

// newFile reads the header.
func newFile(in io.ReaderAt, path string) (*file, error) {
	f := &file{in: in, path: path, byID: map[uint64]int{}, builds: map[string]string{}}
	head, err := f.read(0, 16, "the header")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, f.fail(0, "%w", ErrFormat)
	} else if err != nil {
		return nil, err
	}
	switch string(head[:8]) {
	case "PERFILE2":
		f.order = binary.LittleEndian
	case "2ELIFREP":
		f.order = binary.BigEndian
	default:
		return nil, f.fail(0, "%w", ErrFormat)
	}
	if size := f.order.Uint64(head[8:]); size == 16 {
		f.pipe, f.from = true, 16
		return f, nil
	} else if size != headerSize {
		return nil, f.fail(8, "invalid size of the header: %d bytes; it has %d, or 16 if perf wrote into a pipe", size, headerSize)
	}
	if head, err = f.read(0, headerSize, "the header"); err != nil {
		return nil, err
	}
	c := cursor{b: head[16:], order: f.order}
	attrSize, attrsAt, attrsLen, dataAt, dataLen := c.u64(), c.u64(), c.u64(), c.u64(), c.u64()
	if dataAt > 1<<62 || dataLen > 1<<62 || dataAt < headerSize {
		return nil, f.fail(40, "invalid size or offset of the records: %d bytes at byte %d", dataLen, dataAt)
	}
	f.from, f.to, f.open = int64(dataAt), int64(dataAt+dataLen), dataLen == 0
	if f.open {
		f.to = 0
	}
	if err := f.readAttrs(attrSize, attrsAt, attrsLen); err != nil || f.open {
		return f, err
	}
	return f, f.readFeatures(head[72:headerSize])
}

// readAttrs reads the events: each is a struct perf_event_attr followed by the position
// of its ids.
func (f *file) readAttrs(size, at, length uint64) error {
	const section = 16
	if size < oldestAttr+section || size > 1<<12 || length%size != 0 || length/size > mostAttrs || at > 1<<62 {
		return f.fail(16, "invalid size or offset of the events: %d bytes of %d each, at byte %d", length, size, at)
	}
	b, err := f.read(int64(at), int64(length), "the events")
	if err != nil {
		return err
	}
	left := uint64(8 * mostIDs)
	for ; len(b) > 0; b = b[size:] {
		c := cursor{b: b[size-section : size], order: f.order}
		idsAt, idsLen := c.u64(), c.u64()
		if idsAt > 1<<62 || idsLen > min(8*mostAttrs, left) {
			return f.fail(int64(at), "invalid size or offset of an event's ids: %d bytes at byte %d", idsLen, idsAt)
		}
		left -= idsLen
		ids, err := f.read(int64(idsAt), int64(idsLen), "the ids of an event")
		if err != nil {
			return err
		}
		f.addAttr(b[:size-section], ids)
	}
	return nil
}

// addAttr adds an event.
func (f *file) addAttr(b, ids []byte) {
	c := cursor{b: b, order: f.order}
	a := attr{kind: c.u32()}
	c.u32()
	a.config = c.u64()
	c.u64() // period
	a.has, a.readFormat = c.u64(), c.u64()
	flags := c.u64()
	if f.order == binary.BigEndian { // C's bit fields begin at the other end there
		flags = bits.Reverse64(flags)
	}
	a.trailer = flags&(1<<18) != 0
	c.skip(24) // wakeup, bp_type, config1, config2
	a.branches = c.u64()
	a.name = defaultName(a.kind, a.config)
	for c := (cursor{b: ids, order: f.order}); len(c.b) >= 8; {
		f.byID[c.u64()] = len(f.attrs)
	}
	f.attrs = append(f.attrs, a)
}

// Kinds of events, from enum perf_type_id, and their numbers that sample time.
const (
	hardware, software   = 0, 1
	cycles, refCycles    = 0, 9
	cpuClock, taskClock  = 0, 1
	hybridConfig         = 1<<32 - 1 // the bits above select the kind of processor of a hybrid one
	firstKindOfProcessor = 4         // raw events, and those of other units
)

// defaultName returns the name of an event that has none in the file.
func defaultName(kind uint32, config uint64) string {
	names := map[uint32][]string{
		hardware: {"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"},
		software: {"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"},
	}[kind]
	if n := config & hybridConfig; n < uint64(len(names)) {
		return names[n]
	}
	return fmt.Sprintf("%d:%#x", kind, config)
}

// isDummy reports whether an event exists for records other than samples.
func (a *attr) isDummy() bool {
	const dummy = 9 // PERF_COUNT_SW_DUMMY
	return a.kind == software && a.config == dummy
}

// isTime reports whether samples of an event measure time.
func (a *attr) isTime() bool {
	n := a.config & hybridConfig
	return a.kind == hardware && (n == cycles || n == refCycles) || a.kind == software && (n == cpuClock || n == taskClock) ||
		a.kind >= firstKindOfProcessor && (a.has&hasBranches != 0 || strings.Contains(a.name, "cycles"))
}

// readFeatures reads the features after the records: a list of sections, one for each
// bit.
func (f *file) readFeatures(bitmap []byte) error {
	at := f.to
	for n := range 256 {
		if f.order.Uint64(bitmap[n/64*8:])>>(n%64)&1 == 0 {
			continue
		}
		where, err := f.read(at, 16, "the list of features")
		if err != nil {
			return err
		}
		c := cursor{b: where, order: f.order}
		from, size := c.u64(), c.u64()
		at += 16
		switch n {
		case featureBuildID, featureHost, featureArch, featureCommand, featureEventDesc:
			if from > 1<<62 || size > mostOfFeature {
				return f.fail(at-16, "invalid size or offset of feature %d: %d bytes at byte %d", n, size, from)
			}
			b, err := f.read(int64(from), int64(size), "a feature")
			if err == nil {
				err = f.feature(n, b, int64(from))
			}
			if err != nil {
				return err
			}
		default:
			if !f.has(from, size) {
				f.cut++
			}
		}
	}
	return nil
}

// has reports whether the file has all of a section.
func (f *file) has(at, size uint64) bool {
	if size == 0 {
		return true
	}
	if at > 1<<62 || size > 1<<62 {
		return false
	}
	n, _ := f.in.ReadAt(make([]byte, 1), int64(at+size-1)) // an error is the end of the file, or occurs again
	return n == 1
}

// feature parses a feature at an offset of the file.
func (f *file) feature(n int, b []byte, at int64) error {
	c := cursor{b: b, order: f.order}
	switch n {
	case featureHost:
		f.host = c.text()
	case featureArch:
		f.arch = c.text()
	case featureCommand:
		var words []string
		for i := c.u32(); i > 0 && !c.bad; i-- {
			words = append(words, c.text())
		}
		f.command = strings.Join(words, " ")
	case featureBuildID:
		for len(c.b) > 0 && !c.bad {
			c.u32()
			misc, size := c.u16(), c.u16()
			one := cursor{b: c.take(int(size) - 8), order: f.order}
			f.buildID(&one, misc)
			c.bad = c.bad || one.bad
		}
	case featureEventDesc:
		f.eventNames(&c)
	}
	if c.bad {
		return f.fail(at, "feature %d is truncated", n)
	}
	return nil
}

// buildID parses the build id of a file: a process, 20 bytes, their number, and the path.
func (f *file) buildID(c *cursor, misc uint16) {
	const hasSize, longest = 1 << 15, 20
	c.u32()
	id := c.take(24)
	if c.bad {
		return
	}
	size := longest
	if misc&hasSize != 0 {
		size = min(int(id[longest]), longest)
	}
	f.builds[zeroEnded(c.b)] = fmt.Sprintf("%x", id[:size])
}

// eventNames parses the events' names.
func (f *file) eventNames(c *cursor) {
	n, size := c.u32(), c.u32()
	for ; n > 0 && !c.bad; n-- {
		c.skip(int(size))
		ids := c.u32()
		name := c.text()
		for ; ids > 0 && !c.bad; ids-- {
			if i, ok := f.byID[c.u64()]; ok && name != "" {
				f.attrs[i].name = name
			}
		}
	}
}
