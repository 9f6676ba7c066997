package pack_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/pack"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestMain(m *testing.M) { os.Exit(shmtest.Run(m.Run)) }

// memory is a file in memory that can be written.
type memory []byte

func (m *memory) WriteAt(b []byte, off int64) (int, error) {
	if n := int(off) + len(b); n > len(*m) {
		*m = append(*m, make([]byte, n-len(*m))...)
	}
	return copy((*m)[off:], b), nil
}

func packed(t testing.TB, data []byte) (memory, pack.Result) {
	t.Helper()
	var m memory
	res, err := pack.Write(context.Background(), &m, pack.Source{R: bytes.NewReader(data), Size: int64(len(data))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Size != int64(len(data)) || res.Packed != int64(len(m)) || res.Plain != 0 {
		t.Fatalf("%+v, of %d bytes packed to %d", res, len(data), len(m))
	}
	return m, res
}

func open(t testing.TB, data []byte) *pack.Reader {
	t.Helper()
	r, err := pack.Open(bytes.NewReader(data), int64(len(data)), "x.scopez")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// all reads a whole packed trace of size bytes.
func all(t testing.TB, r *pack.Reader, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pack.Copy(context.Background(), struct{ io.Writer }{&b}, r, int64(size), nil, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// traces returns traces of all kinds, by description.
func traces(t testing.TB) map[string][]byte {
	list := map[string][]byte{
		"hostile":        tracetest.Hostile(t),
		"many arguments": tracetest.Bulk(40, true),
	}
	scopes := int64(70_000)
	if testing.Short() {
		scopes = 10_000
	}
	for _, s := range bulk.Shapes {
		b, err := (bulk.Trace{Shape: s, Scopes: scopes, Seed: 1}).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		list[string(s)] = b
	}
	list["cut within its header"] = list["regular"][:3000]
	list["cut within a chunk header"] = list["regular"][:4*format.ChunkSize+20]
	noise := bytes.Clone(list["irregular"][:6*format.ChunkSize])
	r := rand.New(rand.NewPCG(1, 1))
	for range 600 {
		noise[format.ChunkSize+r.IntN(len(noise)-format.ChunkSize)] ^= 1 << r.IntN(8)
	}
	list["flipped bits"] = noise
	for _, g := range tracetest.Goldens(t, "../trace") {
		list[g.Name] = g.Bytes(t)
	}
	return list
}

// TestSame checks that unpacking gives what was packed, byte for byte.
func TestSame(t *testing.T) {
	for name, data := range traces(t) {
		if _, _, err := format.DecodeHeader(data); err != nil {
			continue // it can't be packed: see TestRefused
		}
		m, _ := packed(t, data)
		r := open(t, m)
		if got := all(t, r, len(data)); !bytes.Equal(got, data) {
			t.Errorf("%s: differs from byte %d on", name, firstDifference(got, data))
		}
		if n := r.Lost(); n != 0 {
			t.Errorf("%s: %d chunks are lost", name, n)
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestSizes checks the packed sizes. The loads are those of docs/packed.md.
func TestSizes(t *testing.T) {
	const scopes = 140_000
	for _, c := range []struct {
		shape bulk.Shape
		most  float64 // bytes a scope
	}{{bulk.Regular, 0.1}, {bulk.Irregular, 5.4}, {bulk.Rows, 5.4}, {bulk.Deep, 5.4}, {bulk.Long, 5.4}, {bulk.Args, 8.5}} {
		data, err := (bulk.Trace{Shape: c.shape, Scopes: scopes, Seed: 2}).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		m, res := packed(t, data)
		if res.Scopes != scopes {
			t.Errorf("%s: %d scopes are counted, of %d", c.shape, res.Scopes, scopes)
		}
		if each := float64(len(m)) / float64(scopes); each > c.most {
			t.Errorf("%s: %.2f bytes a scope, want at most %.2f", c.shape, each, c.most)
		} else {
			t.Logf("%s: %.2f bytes a scope", c.shape, each)
		}
	}
}

// TestRefused checks that only a trace is packed, and that a later version's packed file is not
// read.
func TestRefused(t *testing.T) {
	for _, data := range [][]byte{nil, []byte("no trace"), make([]byte, 100_000)} {
		var m memory
		if _, err := pack.Write(context.Background(), &m, pack.Source{R: bytes.NewReader(data), Size: int64(len(data))}, nil); err == nil || len(m) > 0 {
			t.Errorf("%d bytes that are no trace: %v, and %d bytes were written", len(data), err, len(m))
		}
	}
	data, err := (bulk.Trace{Shape: bulk.Regular, Scopes: 5000}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := packed(t, data)
	for _, c := range []struct {
		change func(b []byte) []byte
		want   error
		text   string
	}{
		{func(b []byte) []byte { b[8]++; return b }, format.ErrNewer, "packed format 2.0"},
		{func(b []byte) []byte { b[20]++; return b }, format.ErrCorrupt, "checksum"},
		{func(b []byte) []byte { b[70]++; return b }, format.ErrCorrupt, "checksum"},
		{func(b []byte) []byte { return b[:40] }, format.ErrCorrupt, "truncated after 40 bytes"},
		{func(b []byte) []byte { return b[:80] }, format.ErrCorrupt, "truncated after 80 bytes"},
		{func(b []byte) []byte { b[0]++; return b }, format.ErrNotTrace, ""},
	} {
		b := c.change(bytes.Clone(m))
		if _, err := pack.Open(bytes.NewReader(b), int64(len(b)), "x.scopez"); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "x.scopez") {
			t.Errorf("%v, want %v with %q", err, c.want, c.text)
		}
	}
}

// groupsOf returns the offsets of a packed file's groups, and the end of the last one.
func groupsOf(m []byte) (at []int64) {
	le := binary.LittleEndian
	n := int64(le.Uint32(m[32:]))
	off := 64 + 8*n + int64(le.Uint32(m[36:]))
	for i := range n {
		at = append(at, off)
		off += int64(le.Uint32(m[64+8*i:]))
	}
	return append(at, off)
}

// TestLost checks that of a file that is cut off or damaged everything is read except the chunks of
// incomplete groups, which are reported as damage.
func TestLost(t *testing.T) {
	data, err := (bulk.Trace{Shape: bulk.Irregular, Scopes: 200_000}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := packed(t, data)
	groups := groupsOf(m)
	if len(groups) != 7 || groups[6] != int64(len(m)) {
		t.Fatalf("groups begin at %d, of %d bytes", groups, len(m))
	}
	per := 200_000 / 98 // scopes in a chunk
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		lost   []int // chunks: the first, and the one behind the last
	}{
		{"the last group is cut", func(b []byte) []byte { return b[:len(b)-1] }, []int{98, 100}},
		{"two groups are gone", func(b []byte) []byte { return b[:groups[4]] }, []int{66, 100}},
		{"a bit is flipped", func(b []byte) []byte { b[groups[3]+1000] ^= 4; return b }, []int{34, 66}},
	} {
		b := c.change(bytes.Clone(m))
		r := open(t, b)
		got := all(t, r, len(data))
		for i := 0; i < len(data); i += format.ChunkSize {
			chunk, n := got[i:i+format.ChunkSize], i/format.ChunkSize
			if lost := n >= c.lost[0] && n < c.lost[1]; lost != format.IsLost(chunk) || !lost && !bytes.Equal(chunk, data[i:i+format.ChunkSize]) {
				t.Errorf("%s: the chunk %d is lost: %t", c.name, n, lost)
			}
		}
		lost := int64(c.lost[1] - c.lost[0])
		if n := r.Lost(); n != lost {
			t.Errorf("%s: %d chunks are lost, want %d", c.name, n, lost)
		}
		r = open(t, b)
		tr, err := trace.Open(r, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		events := 0
		if err := tr.Events(trace.Options{}, func(*trace.Event) bool { events++; return true }); err != nil {
			t.Fatal(err)
		}
		if want := per * (98 - int(lost)); events < want || events > want+2*98+8 {
			t.Errorf("%s: %d events, want some %d", c.name, events, want)
		}
		counted := int64(0)
		for _, p := range tr.Problems() {
			if !p.Damage() || !strings.Contains(p.Text, "packed file") {
				t.Errorf("%s: %+v", c.name, p)
			}
			counted += p.Count
		}
		if counted != lost {
			t.Errorf("%s: %d chunks are counted, want %d", c.name, counted, lost)
		}
	}
}

// TestOutOfRoom checks that packing stops at a failed write, with that write's error.
func TestOutOfRoom(t *testing.T) {
	data, err := (bulk.Trace{Shape: bulk.Irregular, Scopes: 70_000}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	goroutines := runtime.NumGoroutine()
	for _, room := range []int64{0, 100, 10_000, 300_000} {
		full := &full{room: room}
		if _, err := pack.Write(context.Background(), full, pack.Source{R: bytes.NewReader(data), Size: int64(len(data))}, nil); !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := pack.Write(ctx, new(memory), pack.Source{R: bytes.NewReader(data), Size: int64(len(data))}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left", runtime.NumGoroutine()-goroutines)
		}
	}
}

var errFull = errors.New("there is no room")

type full struct{ room int64 }

func (f *full) WriteAt(b []byte, off int64) (int, error) {
	if off+int64(len(b)) > f.room {
		return 0, errFull
	}
	return len(b), nil
}

// TestTogether reads at random places from several goroutines.
func TestTogether(t *testing.T) {
	data, err := (bulk.Trace{Shape: bulk.Long, Scopes: 140_000}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := packed(t, data)
	r := open(t, m)
	var done sync.WaitGroup
	for g := range 4 {
		done.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(g)))
			b := make([]byte, 200_000)
			for range 50 {
				n := rnd.IntN(len(b))
				off := rnd.IntN(len(data))
				got, err := r.ReadAt(b[:n], int64(off))
				want := data[off:min(off+n, len(data))]
				if !bytes.Equal(b[:got], want) || (err == io.EOF) != (len(want) < n) || err != nil && err != io.EOF {
					t.Errorf("%d bytes at %d: %d, %v", n, off, got, err)
				}
			}
		})
	}
	done.Wait()
	b := make([]byte, format.ChunkSize)
	if n := testing.AllocsPerRun(100, func() { r.ReadAt(b, 9*format.ChunkSize) }); n > 0 {
		t.Errorf("a reading of what is unpacked allocates %.0f times", n)
	}
}

// TestOpenReadsNoRecords checks that opening a trace reads only the beginning of the packed file,
// and the newest chunks.
func TestOpenReadsNoRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a trace of many groups")
	}
	data, err := (bulk.Trace{Shape: bulk.Irregular, Scopes: 700_000}).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	m, _ := packed(t, data)
	c := &counting{ReaderAt: bytes.NewReader(m)}
	r, err := pack.Open(c, int64(len(m)), "x.scopez")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := trace.Open(r, int64(len(data))); err != nil {
		t.Fatal(err)
	}
	if c.bytes > int64(len(m))/3 {
		t.Errorf("opening it reads %d of %d bytes", c.bytes, len(m))
	}
}

type counting struct {
	io.ReaderAt
	bytes int64
}

func (c *counting) ReadAt(b []byte, off int64) (int, error) {
	c.bytes += int64(len(b))
	return c.ReaderAt.ReadAt(b, off)
}

func BenchmarkWrite(b *testing.B) {
	for _, s := range []bulk.Shape{bulk.Regular, bulk.Irregular, bulk.Args} {
		b.Run(string(s), func(b *testing.B) {
			const scopes = 1_000_000
			data, err := (bulk.Trace{Shape: s, Scopes: scopes}).Bytes()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				packed(b, data)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/scopes, "ns/scope")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, s := range []bulk.Shape{bulk.Regular, bulk.Irregular, bulk.Args} {
		b.Run(string(s), func(b *testing.B) {
			const scopes = 1_000_000
			data, err := (bulk.Trace{Shape: s, Scopes: scopes}).Bytes()
			if err != nil {
				b.Fatal(err)
			}
			m, _ := packed(b, data)
			for b.Loop() {
				if err := pack.Copy(context.Background(), struct{ io.Writer }{io.Discard}, open(b, m), int64(len(data)), nil, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/scopes, "ns/scope")
		})
	}
}
