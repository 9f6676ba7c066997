package perfdata

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// both reads a file as Profile does, up to the choice of a program.
func both(b []byte) (*taker, error) {
	f, err := newFile(bytes.NewReader(b), "perf.data")
	if err != nil {
		return nil, err
	}
	return f.take(context.Background(), Options{})
}

// put overwrites a number in a copy of a file.
func put[T uint16 | uint32 | uint64](b []byte, at int, v T) []byte {
	b = bytes.Clone(b)
	switch v := any(v).(type) {
	case uint16:
		binary.LittleEndian.PutUint16(b[at:], v)
	case uint32:
		binary.LittleEndian.PutUint32(b[at:], v)
	case uint64:
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	return b
}

// TestHostileFiles: a fault is an error with its offset.
func TestHostileFiles(t *testing.T) {
	m := newMade(task)
	m.features[featureHost] = m.text("box")
	m.mmap2(7, 1, base, 4096, "/bin/true")
	first := len(m.records)
	m.sample(7, 2, base, 1<<64-512, base)
	good := m.bytes()
	if _, err := both(good); err != nil {
		t.Fatal(err)
	}
	const attrs, records = headerSize, headerSize + 128
	features := records + len(m.records)
	one := func(kind uint32, body ...any) []byte {
		m := newMade(task)
		m.record(kind, 2, body...)
		return m.bytes()
	}
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                 {nil, "at byte 0: it is not perf.data: it does not begin with PERFILE2"},
		"text":                  {[]byte("not a file of perf's, but long enough"), "at byte 0: it is not perf.data: it does not begin with PERFILE2"},
		"header's size":         {put(good, 8, uint64(200)), "at byte 8: invalid size of the header: 200 bytes"},
		"header is cut":         {good[:50], "at byte 0: the header: 104 bytes are needed, and the file ends after 50"},
		"size of events":        {put(good, 16, uint64(7)), "at byte 16: invalid size or offset of the events: 128 bytes of 7 each"},
		"number of events":      {put(good, 32, uint64(math.MaxUint64-63)), "at byte 16: invalid size or offset of the events: "},
		"events behind the end": {put(good, 24, uint64(1<<40)), "at byte 1099511627776: the events: 128 bytes are needed"},
		"ids too many":          {put(good, attrs+120, uint64(1<<50)), "invalid size or offset of an event's ids: 1125899906842624 bytes"},
		"ids behind the end":    {put(put(good, attrs+120, uint64(8)), attrs+112, uint64(1<<40)), "at byte 1099511627776: the ids of an event: 8 bytes are needed"},
		"records' place":        {put(good, 40, uint64(8)), "at byte 40: invalid size or offset of the records: "},
		"records' size":         {put(good, 48, uint64(math.MaxUint64)), "at byte 40: invalid size or offset of the records: "},
		"record of no size":     {put(good, records+6, uint16(0)), "at byte 232: invalid size of a record of kind 10: 0 bytes; its head alone has 8"},
		"record over the end":   {put(good, records+first+6, uint16(60_000)), "invalid size of a record of kind 9: 60000 bytes, and the records end after"},
		"feature's place":       {put(good, features, uint64(math.MaxUint64)), "invalid size or offset of feature 3: "},
		"feature's size":        {put(good, features+8, uint64(1<<40)), "invalid size or offset of feature 3: 1099511627776 bytes"},
		"feature's text":        {put(good, features+16, uint32(1000)), "feature 3 is truncated"},
		"list of features":      {good[:features+3], "the list of features: 16 bytes are needed, and the file ends after 3"},
		"sample's chain":        {put(good, records+first+8+24, uint64(1<<61)), "a sample of task-clock has 48 bytes, too few for its contents"},
		"sample is short":       {one(recordSample, uint64(1)), "at byte 232: a sample of task-clock has 8 bytes"},
		"mapping is short":      {one(recordMmap2, uint64(1)), "at byte 232: a record of kind 10 has 16 bytes, too few"},
		"name is short":         {one(recordComm, uint32(1)), "at byte 232: a record of kind 3 has 12 bytes, too few"},
		"fork is short":         {one(recordFork, uint64(1)), "at byte 232: a record of kind 7 has 16 bytes, too few"},
		"exit is short":         {one(recordExit, uint64(1)), "at byte 232: a record of kind 4 has 16 bytes, too few"},
		"loss is short":         {one(recordLost, uint64(1)), "at byte 232: a record of kind 2 has 16 bytes, too few"},
		"build id is short":     {one(recordBuildID, uint64(1)), "at byte 232: a record of kind 67 has 16 bytes, too few"},
		"event is short":        {one(recordAttr, uint32(1), uint32(4096)), "at byte 232: a record of kind 64 has 16 bytes, too few"},
		"feature is short":      {one(recordFeature, uint64(featureHost), uint32(9)), "at byte 232: a record of kind 80 has 20 bytes, too few"},
		"compressed":            {one(recordCompressed, uint64(1)), "at byte 232: the records are compressed (perf record -z), which is not read: record without -z"},
		"data behind a record":  {one(recordAuxtrace, uint64(1<<40)), "1099511627776 bytes should follow a record of kind 71, and the file ends after 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := both(c.file)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "reading perf.data at byte ") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if _, err := both(nil); !errors.Is(err, ErrFormat) {
		t.Errorf("%v is not ErrFormat", err)
	}
	if _, err := both(newMade().bytes()); err == nil || !strings.Contains(err.Error(), "it has no event") {
		t.Errorf("%v", err)
	}
}

// TestCutOff: a file that is cut off anywhere is an error, unless perf was killed before it wrote
// the length of the records.
func TestCutOff(t *testing.T) {
	m := newMade(task)
	m.mmap2(7, 1, base, 4096, "/bin/true")
	m.sample(7, 2, base)
	good := m.bytes()
	for n := range good {
		if _, err := both(good[:n]); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrFormat) {
			t.Errorf("of %d bytes %d are there: %v", len(good), n, err)
		}
	}
	killed := put(good, 48, uint64(0))
	for n := headerSize + 128; n <= len(good); n++ {
		got, err := both(killed[:n])
		if err != nil {
			t.Fatalf("perf was killed, %d bytes are there: %v", n, err)
		}
		want := 0
		if n == len(good) {
			want = 1
		}
		if len(got.programs) != want {
			t.Errorf("perf was killed, %d bytes are there: %d programs, want %d", n, len(got.programs), want)
		}
	}
}

// TestCutFeatures cuts a file in the features after the records. Each length is an error, or a loss
// if only unused features are missing.
func TestCutFeatures(t *testing.T) {
	const featureVersion, featureCPU = 5, 8
	m := newMade(task)
	m.features[featureHost], m.features[featureVersion], m.features[featureCPU] = m.text("box"), m.text("6.1"), m.text("a processor")
	m.mmap2(7, 1, base, 4096, "/bin/true")
	m.sample(7, 2, base)
	good := m.bytes()
	for n := range len(good) + 1 {
		got, err := both(good[:n])
		if detected := err != nil || got.f.cut > 0; detected != (n < len(good)) {
			t.Errorf("of %d bytes %d are there: %v", len(good), n, err)
		}
	}
}

// TestCutPipe: a file that perf wrote into a pipe has no length, so a prefix of complete records is
// a complete file; any other prefix is an error.
func TestCutPipe(t *testing.T) {
	m := &made{order: binary.LittleEndian, attrs: []madeAttr{task}, pipe: true}
	m.mmap2(7, 1, base, 4096, "/bin/true")
	first := len(m.records)
	m.sample(7, 2, base)
	good := m.bytes()
	ends := map[int]bool{len(good) - len(m.records): true, len(good) - len(m.records) + first: true}
	for n := range good {
		if _, err := both(good[:n]); (err == nil) != ends[n] {
			t.Errorf("of %d bytes %d are there: %v", len(good), n, err)
		}
	}
}

// TestKilledIsALoss: a file that perf did not end has that among its losses.
func TestKilledIsALoss(t *testing.T) {
	s := theTest(t)
	m := newMade(task)
	m.mmap2(7, 1, base, 1<<30, s.path)
	m.sample(7, 2, base+s.offset(t, "inner", 3))
	m.sample(7, 3, base+s.offset(t, "inner", 3))
	killed := put(m.bytes(), 48, uint64(0))
	path := filepath.Join(t.TempDir(), "perf.data")
	filetest.Write(t, path, killed[:len(killed)-5])
	p, _, notes, err := Profile(context.Background(), path, Options{})
	if err != nil || len(p.Losses) != 1 || !strings.Contains(strings.Join(notes, "\n"), "perf was interrupted") {
		t.Errorf("%v, %q", err, notes)
	}
	whole, _, _ := m.profile(t, Options{})
	if len(whole.Losses) != 0 {
		t.Errorf("losses of a whole file: %q", whole.Losses)
	}
}

func TestDataBehindRecords(t *testing.T) {
	m := newMade(task)
	m.record(recordTracing, 0, uint32(5))
	m.records = append(m.records, "12345678"...)
	m.record(recordAuxtrace, 0, uint64(16), make([]byte, 32))
	m.records = append(m.records, "1234567812345678"...)
	m.mmap2(7, 1, base, 4096, "/bin/true")
	m.sample(7, 2, base)
	if got, err := both(m.bytes()); err != nil || len(got.programs) != 1 {
		t.Errorf("%v", err)
	}
}

// TestCircles: processes that are each other's parents, and more mappings than are kept.
func TestCircles(t *testing.T) {
	m := newMade(task)
	for _, pid := range []uint32{7, 8, 9} {
		parent := 7 + (pid-6)%3
		m.record(recordFork, 0, append([]any{pid, parent, pid, parent, uint64(5)}, at(pid, 5)...)...)
	}
	for i := range uint64(mostChanges + 10) {
		m.mmap2(10, 6, base+i<<12, 4096, "/bin/true")
	}
	m.sample(7, 10, base)
	m.sample(10, 10, base)
	got, err := both(m.bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got.programs[-1].samples != 1 || got.programs[0].samples != 1 || got.spaces.left != 10 {
		t.Errorf("%+v, %d left", got.programs, got.spaces.left)
	}
}

func FuzzRead(f *testing.F) {
	for _, m := range []*made{newMade(task), {order: binary.LittleEndian, attrs: []madeAttr{task}, pipe: true},
		newMade(madeAttr{kind: 4, has: 1<<16 | hasIP | hasThread | hasRead | hasChain | hasRaw | hasBranches, readFormat: 31, branches: branchAny | branchHardware, ids: []uint64{1}})} {
		m.mmap2(7, 1, base, 4096, "/bin/true")
		m.record(recordFork, 0, append([]any{uint32(8), uint32(7), uint32(8), uint32(7), uint64(5)}, at(8, 5)...)...)
		m.sample(8, 2, base, 1<<64-512, base, base+9)
		if !m.pipe {
			m.features = map[int][]byte{featureHost: m.text("box"), featureCommand: m.fields(nil, uint32(1), m.text("perf")),
				featureEventDesc: m.fields(nil, uint32(1), uint32(4), uint32(0), uint32(1), m.text("x"), uint64(1)),
				featureBuildID:   m.fields(nil, uint32(0), uint16(0), uint16(44), uint32(7), make([]byte, 24), "/bin/tru")}
		}
		f.Add(m.bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := both(b)
		if err != nil {
			return
		}
		for _, p := range got.sorted() {
			n := int64(0)
			for _, k := range p.stacks {
				n += k
			}
			if n+p.kernel != p.samples {
				t.Errorf("%d samples: %d and %d of the kernel", p.samples, n, p.kernel)
			}
		}
	})
}
