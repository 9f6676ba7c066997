package pgo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// random returns a profile with all that profiles of programs have, and what they should not have:
// recursion on one line and one address, inlining, locations without lines or functions, the same line
// at several addresses, lines before a function's first.
func random(r *rand.Rand, samples int) *profile.Profile {
	q := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "alloc", Unit: "bytes"}, {Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Period:     1e7, DurationNanos: 5e9, Comments: []string{"made"},
	}
	for i := range 12 {
		q.Function = append(q.Function, &profile.Function{ID: uint64(i + 1), Name: fmt.Sprint("main.f", i%10), Filename: "a.go", StartLine: int64(i % 5 * 10)})
	}
	for i := range 40 {
		l := &profile.Location{ID: uint64(3*i + 1), Address: uint64(r.IntN(20))}
		for range r.IntN(4) {
			line := profile.Line{Function: q.Function[r.IntN(len(q.Function))], Line: int64(r.IntN(60))}
			l.Line = append(l.Line, line)
		}
		q.Location = append(q.Location, l)
	}
	for range samples {
		s := &profile.Sample{Value: []int64{7, int64(r.IntN(5)), int64(r.IntN(5)) * 1e7}}
		for range r.IntN(5) {
			s.Location = append(s.Location, q.Location[r.IntN(len(q.Location))])
		}
		q.Sample = append(q.Sample, s)
	}
	return q
}

// preprofile returns what the compiler reads of a profile.
func preprofile(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.pgo")
	filetest.Write(t, path, data)
	out, err := exec.Command("go", "tool", "preprofile", "-i", path).CombinedOutput()
	if err != nil {
		t.Fatalf("go tool preprofile: %v: %s", err, out)
	}
	return string(out)
}

// serialized returns edges as go tool preprofile prints them.
func serialized(e *Edges) string {
	var b strings.Builder
	b.WriteString("GO PREPROFILE V1\n")
	for _, edge := range e.Sorted() {
		fmt.Fprintf(&b, "%s\n%s\n%d %d\n", edge.Caller, edge.Callee, edge.Offset, e.Weight[edge])
	}
	return b.String()
}

func encode(t testing.TB, q *profile.Profile, zipped bool) []byte {
	t.Helper()
	var b bytes.Buffer
	write := q.WriteUncompressed
	if zipped {
		write = q.Write
	}
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestEdgesAreTheCompilers: the Edges of a profile, of its copy by Write, and of its reduction by
// Shrink, equal those of go tool preprofile for each.
func TestEdgesAreTheCompilers(t *testing.T) {
	for seed := range uint64(12) {
		data := encode(t, random(rand.New(rand.NewPCG(seed, 1)), 400), seed%2 == 0)
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		e, err := p.Edges()
		if err != nil {
			t.Fatal(err)
		}
		want := preprofile(t, data)
		if got := serialized(e); got != want {
			t.Fatalf("seed %d: the edges differ from the compiler's:\n%s\nwant\n%s", seed, got, want)
		}
		for name, q := range map[string]*Profile{"written": p, "shrunk": Shrink(p, e)} {
			var b bytes.Buffer
			if err := q.Write(&b); err != nil {
				t.Fatal(err)
			}
			if got := preprofile(t, b.Bytes()); got != want {
				t.Errorf("seed %d, %s: the compiler reads another profile", seed, name)
			}
			again, err := Read(&b)
			if err != nil {
				t.Fatal(err)
			}
			e, err := again.Edges()
			if err != nil || serialized(e) != want || again.Duration != p.Duration || len(again.Comments) != 1 {
				t.Errorf("seed %d, %s: it does not read as it was: %v", seed, name, err)
			}
		}
	}
}

// TestWriteIsByContent: equal profiles become equal files, for any order of samples.
func TestWriteIsByContent(t *testing.T) {
	q := random(rand.New(rand.NewPCG(1, 2)), 200)
	var files [2]bytes.Buffer
	for i := range files {
		rand.New(rand.NewPCG(uint64(i), 3)).Shuffle(len(q.Sample), func(a, b int) { q.Sample[a], q.Sample[b] = q.Sample[b], q.Sample[a] })
		p, err := Read(bytes.NewReader(encode(t, q, false)))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("the files differ")
	}
	p, err := Read(&files[0])
	if err != nil || p.Unit != Samples || p.Period != 10*time.Millisecond || p.Duration != 5*time.Second || len(p.Comments) != 1 {
		t.Errorf("read back: %v each %v in %v, %q, %v", p.Unit, p.Period, p.Duration, p.Comments, err)
	}
}

// two returns a profile of one call.
func two(unit Unit, weight int64) *Profile {
	p := New(unit)
	if err := p.Add(Location{{Func: "main.g", Start: 20, Line: 21}}, Location{{Func: "main.f", Start: 10, Line: 13}}, false, weight); err != nil {
		panic(err)
	}
	return p
}

// TestMerge: profiles have the right weights in merges by weight, by duration and by share.
func TestMerge(t *testing.T) {
	long := func(p *Profile, d time.Duration) *Profile { p.Duration = d; return p }
	every := func(d time.Duration, p *Profile) *Profile { p.Period = d; return p }
	for name, c := range map[string]struct {
		by      By
		a, b    *Profile
		weights [2]float64
		want    int64
		err     error
	}{
		"as they are":    {ByWeight, two(Samples, 100), two(Samples, 1), [2]float64{1, 1}, 101, nil},
		"weighted":       {ByWeight, two(Samples, 100), two(Samples, 1), [2]float64{0.5, 3}, 53, nil},
		"at least 1":     {ByWeight, two(Samples, 7), two(Samples, 1), [2]float64{1, 0.01}, 8, nil},
		"by duration":    {ByDuration, long(two(Samples, 100), 10*time.Second), long(two(Samples, 100), 100*time.Second), [2]float64{1, 1}, 110_000, nil},
		"by share":       {ByShare, two(Samples, 100), two(Nanoseconds, 7), [2]float64{1, 2}, 3e9, nil},
		"time, samples":  {ByWeight, two(Nanoseconds, 7), every(10, two(Samples, 2)), [2]float64{1, 2}, 47, nil},
		"samples, time":  {ByWeight, every(10, two(Samples, 2)), two(Nanoseconds, 7), [2]float64{1, 1}, 27, nil},
		"weighted, time": {ByWeight, every(10, two(Samples, 2)), two(Nanoseconds, 7), [2]float64{3, 1}, 0, ErrUnits},
		"nothing, time":  {ByWeight, New(Samples), two(Nanoseconds, 7), [2]float64{1, 1}, 7, nil},
		"time, nothing":  {ByWeight, two(Nanoseconds, 7), New(Samples), [2]float64{1, 1}, 7, nil},
		"units":          {ByWeight, two(Samples, 1), two(Nanoseconds, 1), [2]float64{1, 1}, 0, ErrUnits},
		"length unknown": {ByDuration, long(two(Samples, 1), 1), two(Samples, 1), [2]float64{1, 1}, 0, ErrNoDuration},
		"overflow":       {ByWeight, two(Samples, 7), two(Samples, math.MaxInt64-5), [2]float64{1, 1}, 0, ErrOverflow},
		"too long":       {ByWeight, long(two(Samples, 7), math.MaxInt64), long(two(Samples, 1), 1), [2]float64{1, 1}, 0, ErrLong},
		"overflow by":    {ByWeight, two(Samples, 7), two(Samples, math.MaxInt64/2), [2]float64{1, 3}, 0, ErrOverflow},
	} {
		m := NewMerger(c.by)
		err := m.Add("a", c.a, c.weights[0])
		if err == nil {
			err = m.Add("b", c.b, c.weights[1])
		}
		if c.err != nil {
			if !errors.Is(err, c.err) {
				t.Errorf("%s: error %v, want %v", name, err, c.err)
			}
			continue
		}
		p, n := m.Profile()
		total, _ := p.Total()
		if err != nil || n != 2 || total != c.want || len(p.Weight) != 1 || len(p.Comments) != 2 {
			t.Errorf("%s: %d profiles, a total of %d in %d pairs, %q, %v; want %d in one", name, n, total, len(p.Weight), p.Comments, err, c.want)
		}
	}
}

// TestMergeSources: of very many profiles the first are named, and all are counted.
func TestMergeSources(t *testing.T) {
	m := NewMerger(ByWeight)
	for i := range 1000 {
		if err := m.Add(fmt.Sprint(i), two(Samples, 1), 1); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := m.Profile()
	if n := len(p.Comments); n != mostSources || p.Comments[0] != "0: 1 samples/count, by weight × 1" || p.Comments[n-1] != "… of 1000 profiles in all" {
		t.Errorf("%d comments: %q … %q", n, p.Comments[0], p.Comments[n-1])
	}
}

func TestOverlap(t *testing.T) {
	edges := func(w ...int64) *Edges {
		e := &Edges{Weight: map[Edge]int64{}}
		for i, x := range w {
			if x > 0 {
				e.Weight[Edge{"a", "b", i}] = x
				e.Total += x
			}
		}
		return e
	}
	for _, c := range []struct {
		a, b *Edges
		want float64
	}{
		{edges(1, 3), edges(10, 30), 1},
		{edges(1, 3), edges(3, 1), 0.5},
		{edges(1, 0), edges(0, 1), 0},
		{edges(1, 1, 2), edges(2, 0, 0), 0.25},
		{edges(), edges(1), 0},
	} {
		if got := Overlap(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %v, want %v", c.a.Weight, c.b.Weight, got, c.want)
		}
	}
}

// TestHot: the cut is the compiler's: the edge that exceeds the share is hot.
func TestHot(t *testing.T) {
	e := &Edges{Weight: map[Edge]int64{{"a", "b", 0}: 60, {"a", "b", 1}: 39, {"a", "b", 2}: 1}, Total: 100}
	sorted := e.Sorted()
	for share, want := range map[float64]int{50: 1, 60: 2, HotShare: 3, 98.9: 2, 100: 3} {
		if got := e.Hot(sorted, share); got != want {
			t.Errorf("%v %%: %d hot edges, want %d", share, got, want)
		}
	}
}

// TestReadBad: files that are not profiles, and damaged profiles, have the right errors.
func TestReadBad(t *testing.T) {
	good := encode(t, random(rand.New(rand.NewPCG(1, 1)), 50), false)
	heap := random(rand.New(rand.NewPCG(1, 1)), 50)
	heap.SampleType[1].Type, heap.SampleType[2].Type = "inuse", "objects"
	diff := random(rand.New(rand.NewPCG(1, 1)), 50)
	diff.Sample[3].Value[1] = -1
	huge := random(rand.New(rand.NewPCG(1, 1)), 50)
	for _, s := range huge.Sample {
		s.Value[1] = math.MaxInt64 / 10
	}
	zipped := encode(t, random(rand.New(rand.NewPCG(1, 1)), 50), true)
	for name, c := range map[string]struct {
		data []byte
		is   error
		say  string
	}{
		"text":            {[]byte("main.main:1000:10\n 1: 500\n"), ErrNotPprof, ""},
		"an executable":   {[]byte("\x7fELF\x02\x01\x01\x00"), ErrNotPprof, ""},
		"cut off":         {good[:len(good)/2], io.ErrUnexpectedEOF, "it is truncated"},
		"cut off zipped":  {zipped[:len(zipped)/2], io.ErrUnexpectedEOF, "it is truncated"},
		"heap":            {encode(t, heap, false), ErrNoTime, "it has alloc/bytes, inuse/count, objects/nanoseconds"},
		"difference":      {encode(t, diff, false), nil, "sample 4 has the negative value -1"},
		"overflow":        {encode(t, huge, false), ErrOverflow, ""},
		"huge field":      {append([]byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f}, good...), ErrNotPprof, "has 4294967295 bytes"},
		"no location":     {append(bytes.Clone(good), 0x12, 0x07, 0x0a, 0x01, 0x7f, 0x12, 0x02, 1, 1), nil, "sample 51 has 2 values"},
		"gzip of nothing": {[]byte{0x1f, 0x8b, 8}, ErrNotPprof, "gzip header"},
	} {
		_, err := Read(bytes.NewReader(c.data))
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: error %v, want %v, %q", name, err, c.is, c.say)
		}
	}
	if p, err := Read(strings.NewReader("")); err != nil || len(p.Weight) != 0 {
		t.Errorf("an empty file: %v", err)
	}
}

// TestReadCut cuts a profile at every length, gzipped and not. Each is an error, or has the edges
// of the whole one, since only numbers about the profile follow the strings. An empty file is an
// empty profile, for Go's compiler too.
func TestReadCut(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		whole := encode(t, random(rand.New(rand.NewPCG(1, 1)), 20), zipped)
		want, err := Read(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		total, taken := sumOf(t, want), 0
		for n := 1; n < len(whole); n++ {
			if p, err := Read(bytes.NewReader(whole[:n])); err == nil {
				taken++
				if len(p.Weight) != len(want.Weight) || sumOf(t, p) != total {
					t.Errorf("%d of %d bytes (gzip: %v) are taken for a whole file, which has more", n, len(whole), zipped)
				}
			}
		}
		if zipped && taken > 0 || taken > 8 {
			t.Errorf("%d prefixes (gzip: %v) are taken for whole files", taken, zipped)
		}
	}
}

func sumOf(t *testing.T, p *Profile) int64 {
	t.Helper()
	n, err := p.Total()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// FuzzRead: for any bytes, Read returns, and its result can be written and read again.
func FuzzRead(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(encode(f, random(rand.New(rand.NewPCG(seed, 1)), 20), false))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, err := p.Edges(); err != nil {
			return
		}
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatal(err)
		}
		first, err1 := p.Total()
		second, err2 := again.Total()
		if first != second || err1 != nil || err2 != nil || len(again.Weight) != len(p.Weight) {
			t.Errorf("a total of %d in %d pairs became %d in %d (%v, %v)", first, len(p.Weight), second, len(again.Weight), err1, err2)
		}
	})
}
