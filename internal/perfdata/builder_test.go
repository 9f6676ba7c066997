package perfdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// made builds a perf.data file by hand.
type made struct {
	order    binary.AppendByteOrder
	swapped  bool // big-endian
	pipe     bool
	attrs    []madeAttr
	records  []byte
	features map[int][]byte
}

type madeAttr struct {
	kind            uint32
	config          uint64
	has, branches   uint64
	readFormat      uint64
	ids             []uint64
	trailerIsAbsent bool
}

func newMade(attrs ...madeAttr) *made {
	return &made{order: binary.LittleEndian, attrs: attrs, features: map[int][]byte{}}
}

// task is the event of most tests.
var task = madeAttr{kind: software, config: taskClock, has: hasIP | hasThread | hasTime | hasChain}

// fields appends numbers by their size, and texts with a zero.
func (m *made) fields(b []byte, list ...any) []byte {
	for _, v := range list {
		switch v := v.(type) {
		case uint8:
			b = append(b, v)
		case uint16:
			b = m.order.AppendUint16(b, v)
		case uint32:
			b = m.order.AppendUint32(b, v)
		case uint64:
			b = m.order.AppendUint64(b, v)
		case string:
			b = append(append(b, v...), 0)
		case []byte:
			b = append(b, v...)
		}
	}
	return b
}

func (m *made) record(kind uint32, misc uint16, list ...any) {
	body := m.fields(nil, list...)
	m.records = m.fields(m.records, kind, misc, uint16(len(body)+recordHead), body)
}

// at returns the fields at the end of records other than samples, for task.
func at(pid uint32, time uint64) []any { return []any{pid, pid, time} }

func (m *made) mmap2(pid uint32, time, addr, size uint64, path string) {
	m.record(recordMmap2, 2, append([]any{pid, pid, addr, size, uint64(0), make([]byte, 24), uint32(5), uint32(2), path}, at(pid, time)...)...)
}

// sample adds a sample in the program, with task's fields.
func (m *made) sample(pid uint32, time, ip uint64, chain ...uint64) {
	b := m.fields(nil, uint64(len(chain)))
	for _, a := range chain {
		b = m.fields(b, a)
	}
	m.record(recordSample, 2, ip, pid, pid, time, b)
}

func (m *made) attr(a madeAttr) []byte {
	flags := uint64(1 << 18)
	if a.trailerIsAbsent {
		flags = 0
	}
	if m.swapped {
		flags = bits.Reverse64(flags)
	}
	return m.fields(nil, a.kind, uint32(112), a.config, uint64(1000), a.has, a.readFormat, flags, make([]byte, 24), a.branches, make([]byte, 32))
}

// bytes returns the file.
func (m *made) bytes() []byte {
	magic := "PERFILE2"
	if m.swapped {
		magic = "2ELIFREP"
	}
	if m.pipe {
		out := m.fields([]byte(magic), uint64(16))
		for _, a := range m.attrs {
			body := m.attr(a)
			for _, id := range a.ids {
				body = m.fields(body, id)
			}
			out = m.fields(out, uint32(recordAttr), uint16(0), uint16(len(body)+recordHead), body)
		}
		return append(out, m.records...)
	}
	idsAt := uint64(headerSize)
	var ids, attrs []byte
	for _, a := range m.attrs {
		attrs = m.fields(attrs, m.attr(a), idsAt+uint64(len(ids)), uint64(8*len(a.ids)))
		for _, id := range a.ids {
			ids = m.fields(ids, id)
		}
	}
	attrsAt := idsAt + uint64(len(ids))
	dataAt := attrsAt + uint64(len(attrs))
	var bitmap [4]uint64
	var list, features []byte
	end := dataAt + uint64(len(m.records))
	for n := range 256 {
		if b, ok := m.features[n]; ok {
			bitmap[n/64] |= 1 << (n % 64)
			list = m.fields(list, end+16*uint64(len(m.features))+uint64(len(features)), uint64(len(b)))
			features = append(features, b...)
		}
	}
	return m.fields([]byte(magic), uint64(headerSize), uint64(112+16), attrsAt, uint64(len(attrs)), dataAt, uint64(len(m.records)),
		uint64(0), uint64(0), bitmap[0], bitmap[1], bitmap[2], bitmap[3], ids, attrs, m.records, list, features)
}

func (m *made) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	filetest.Write(t, path, m.bytes())
	return path
}

func (m *made) profile(t *testing.T, o Options) (*pgo.Profile, *Branches, string) {
	t.Helper()
	p, b, notes, err := Profile(context.Background(), m.file(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return p, b, strings.Join(notes, "\n")
}

// text returns a text of a feature.
func (m *made) text(s string) []byte { return m.fields(nil, uint32(len(s)+1), s) }

// self is the running test, as the sampled program.
type self struct {
	path string
	im   *symbols.Image
}

func theTest(t *testing.T) *self {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs an ELF executable: perf.data files are Linux'")
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	im, err := symbols.OpenImage(path)
	if err != nil {
		t.Fatal(err)
	}
	return &self{path, im}
}

// offset returns the offset in the file of the first instruction of a line of a function; n
// is the number of the line relative to the function's first, and 0 means the function's
// first instruction.
func (s *self) offset(t *testing.T, function string, n int) uint64 {
	t.Helper()
	list := s.im.Go.Find("github.com/scopeview/scopeview/internal/perfdata." + function)
	if len(list) != 1 {
		t.Fatalf("%d functions %s", len(list), function)
	}
	f := list[0]
	for pc := f.Entry; pc < f.End; pc++ {
		if at, _, line := s.im.Go.At(pc); n == 0 || at != nil && line == f.Line+n {
			return s.file(pc)
		}
	}
	t.Fatalf("%s has no code %d lines behind its first", function, n)
	return 0
}

// file returns the offset of an address: the test's segments of code are contiguous.
func (s *self) file(pc uint64) uint64 {
	for off := uint64(0); off < 1<<32; off += 4096 {
		if addr, ok := s.im.Address(off); ok && addr <= pc && pc-addr < 1<<32 {
			return off + pc - addr
		}
	}
	return 0
}

// The functions of hand-made samples.

//go:noinline
func outer(n int) int {
	n++
	n += inner(n)
	return n + inner(n)
}

//go:noinline
func inner(n int) int {
	var buf [256]byte
	for i := range buf {
		buf[i] = byte(n * i)
	}
	return int(buf[n&255]) + bytes.Count(buf[:], buf[:1])
}

func TestFunctionsOfSamplesAreThere(t *testing.T) {
	if outer(3) == 0 {
		t.Error("outer is 0")
	}
}
