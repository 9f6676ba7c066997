package excerpt

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// cut copies a range of a trace, and returns the path of the excerpt.
func cut(t testing.TB, src string, from, to int64) (string, Result) {
	t.Helper()
	f, err := hot.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "part.scope")
	res, err := Create(t.Context(), path, f, Options{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	return path, res
}

// eventsOf returns the events of a range, as text, without their places.
func eventsOf(t testing.TB, tr *trace.Trace, from, to int64, asRecorded bool) (list []string) {
	t.Helper()
	for e := range tracetest.Events(t, tr, trace.Options{From: from, To: to, AsRecorded: asRecorded}) {
		x := *e
		x.Loc, x.Overwritten = 0, false
		list = append(list, fmt.Sprintf("%+v", x))
	}
	return list
}

// found returns what verify finds.
func found(t testing.TB, path string) (list []string) {
	t.Helper()
	b := filetest.Read(t, path)
	got, err := trace.Verify(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range got {
		list = append(list, fmt.Sprintf("%s at %d: %s", x.Rule, x.Offset, x.Text))
	}
	return list
}

// same checks that an excerpt has the same events in a range as its trace, and is sound if that is.
func same(t *testing.T, src string, from, to int64) (part string) {
	t.Helper()
	part, res := cut(t, src, from, to)
	a, b := tracetest.OpenFile(t, src), tracetest.OpenFile(t, part)
	defer a.Close()
	defer b.Close()
	for _, asRecorded := range []bool{false, true} {
		want, got := eventsOf(t, a, from, to, asRecorded), eventsOf(t, b, from, to, asRecorded)
		for i := range min(len(want), len(got)) {
			if want[i] != got[i] {
				t.Fatalf("%d to %d: event %d is\n%s, want\n%s", from, to, i, got[i], want[i])
			}
		}
		if len(want) != len(got) {
			t.Fatalf("%d to %d: %d events, want %d", from, to, len(got), len(want))
		}
	}
	if bad := found(t, part); len(bad) > 0 && len(found(t, src)) == 0 {
		t.Fatalf("%d to %d: %s", from, to, strings.Join(bad[:min(len(bad), 5)], "\n"))
	}
	begin, end, ok := b.Excerpt()
	if !ok || begin != res.From || end != res.To || b.End() != a.End() || !b.Closed() || res.Bytes != b.Size() {
		t.Fatalf("%d to %d: it is from %d to %d of %d ns, in %d bytes, %v; want %+v of %d", from, to, begin, end, b.End(), b.Size(), ok, res, a.End())
	}
	return part
}

// TestRandom: an excerpt has the events of its range, for random ranges of random traces; and
// an excerpt of it has those of its own.
func TestRandom(t *testing.T) {
	for seed := range uint64(12) {
		src, end := random(t, seed, false)
		rnd := rand.New(rand.NewPCG(seed, 1))
		for range 6 {
			from := rnd.Int64N(end)
			to := from + rnd.Int64N(end-from+1)
			part := same(t, src, from, max(to, 1))
			if to > from+2 {
				same(t, part, from+(to-from)/3, from+(to-from)/2+1)
			}
		}
		same(t, src, 0, end)
	}
}

// random writes a random trace and returns its path and end.
func random(t *testing.T, seed uint64, bad bool) (src string, end int64) {
	t.Helper()
	src = filepath.Join(t.TempDir(), "src.scope")
	filetest.Write(t, src, tracetest.Random(t, seed, bad))
	tr := tracetest.OpenFile(t, src)
	defer tr.Close()
	return src, tr.End()
}

// TestBad: of a trace with records that make no sense, an excerpt is made all the same, and of one
// whose bytes were changed anywhere, either that or an error.
func TestBad(t *testing.T) {
	for seed := range uint64(10) {
		src, end := random(t, seed, true)
		part, res := cut(t, src, end/4, end/2)
		if tr := tracetest.OpenFile(t, part); res.Records == 0 || len(eventsOf(t, tr, end/4, end/2, false)) == 0 {
			t.Errorf("seed %d: there is nothing in it", seed)
		}
	}
	dir := t.TempDir()
	src, path := filepath.Join(dir, "src.scope"), filepath.Join(dir, "part.scope")
	good := tracetest.Random(t, 1, false)
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		b := slices.Clone(good[:len(good)-rnd.IntN(2)*rnd.IntN(len(good)/2)])
		for range 1 + rnd.IntN(30) {
			b[rnd.IntN(len(b))] = byte(rnd.IntN(256))
		}
		os.Remove(src)
		filetest.Write(t, src, b)
		f, err := hot.Open(src)
		if err != nil {
			continue
		}
		if _, err = Create(t.Context(), path, f, Options{From: 1000, To: 500_000}); err != nil {
			left(t, dir, "src.scope")
			continue
		}
		tr := tracetest.OpenFile(t, path)
		eventsOf(t, tr, 0, 0, false)
		if bad := analysis.Damage(tr.Problems()); len(bad) > 0 && tr.Lookup(trace.FactExcerptLacks) == "" {
			t.Errorf("seed %d: %+v, and the trace that it was made of was sound", seed, bad)
		}
		tr.Close()
		os.Remove(path)
	}
}

// TestGoldens: the excerpts of all traces of the repository have the events of their ranges, also of
// those with damage.
func TestGoldens(t *testing.T) {
	paths, _ := filepath.Glob("../trace/testdata/v1*/*.scope.gz")
	traces := map[string][]byte{}
	for _, p := range paths {
		z, err := gzip.NewReader(bytes.NewReader(filetest.Read(t, p)))
		if err == nil {
			traces[p], err = io.ReadAll(z)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range tracetest.Goldens(t, "../trace") {
		traces[g.Name] = g.Bytes(t)
	}
	n := 0
	for _, name := range slices.Sorted(maps.Keys(traces)) {
		b := traces[name]
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue
		}
		if _, _, excerpt := tr.Excerpt(); excerpt {
			continue // it has none of these ranges
		}
		n++
		t.Run(name, func(t *testing.T) {
			src := filepath.Join(t.TempDir(), "src.scope")
			filetest.Write(t, src, b)
			end := max(tr.End(), 1)
			for _, r := range [][2]int64{{0, end}, {end / 10, max(end/3, 1)}, {end / 2, end/2 + max(end/20, 1)}, {tr.End(), end}} {
				same(t, src, r[0], r[1])
			}
		})
	}
	if n < 60 {
		t.Errorf("only %d traces", n)
	}
}

// openScope is a trace of one scope that never ends, on a row with a name.
const openScope = `header clock=monotonic path=go start=1000
state closed=1 tick=9000
chunk blocks sealed flags=final
name 2 "worker"
name 3 "waits"
stop ticks=9000
chunk records sealed flags=final
track "worker" g=7 start=1100
task "waits" g=7 start=1200 open=go
`

// TestOpenScope: an excerpt of a time in which nothing begins has the scope that is open, the name of
// its row, and nothing else.
func TestOpenScope(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src.scope")
	tracetest.Write(t, src, openScope)
	part := same(t, src, 5000, 5001)
	tr := tracetest.OpenFile(t, part)
	defer tr.Close()
	got := eventsOf(t, tr, 5000, 5001, false)
	for e := range tracetest.Events(t, tr, trace.Options{From: 5000, To: 5001}) {
		if tr.Name(e.Track) != "worker" || tr.Name(e.Name) != "waits" || !e.Open || e.Start != 200 || e.Dur != 7800 {
			t.Errorf("%+v", e)
		}
	}
	if len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestRefused: a range that the trace does not have, and an existing file, are errors, and leave
// nothing.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	src, path := filepath.Join(dir, "src.scope"), filepath.Join(dir, "part.scope")
	tracetest.Write(t, src, openScope)
	part, _ := cut(t, src, 2000, 3000)
	for _, test := range []struct {
		src      string
		from, to int64
		want     string
	}{
		{src, 9000, 9500, "it is from 0s to 8.00µs"},
		{src, 3000, 2000, "begins at 3.00µs, and ends before that"},
		{part, 5000, 6000, "an excerpt: from 2.00µs to 3.00µs of a recording of 8.00µs"},
		{part, 0, 1000, "an excerpt"},
	} {
		f, err := hot.Open(test.src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Create(t.Context(), path, f, Options{From: test.from, To: test.to})
		if !errors.Is(err, ErrOutside) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%d to %d: %v", test.from, test.to, err)
		}
	}
	f, err := hot.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Create(t.Context(), src, f, Options{From: 1, To: 2}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	left(t, dir, "src.scope")
	if b := filetest.Read(t, src); len(b) == 0 {
		t.Error("the trace was overwritten")
	}
}

// left checks which files are in a directory.
func left(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q are left, want %q", names, want)
	}
}

// TestInterrupted: an excerpt that is interrupted, at any moment, leaves no file.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src.scope")
	filetest.Write(t, src, tracetest.Bulk(40, true))
	done := false
	for after := time.Duration(0); !done && after < time.Minute; after += after/2 + 200*time.Microsecond {
		f, err := hot.Open(src)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), after)
		path := filepath.Join(dir, "part.scope")
		_, err = Create(ctx, path, f, Options{From: 1})
		stop()
		if done = err == nil; done {
			os.Remove(path)
		} else if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", after, err)
		}
		left(t, dir, "src.scope")
	}
}

// TestProportional: a hundredth of the time of many scopes takes a hundredth of the bytes, and a few
// chunks.
func TestProportional(t *testing.T) {
	const count = 500 // chunks, of a million scopes
	src := filepath.Join(t.TempDir(), "src.scope")
	filetest.Write(t, src, tracetest.Bulk(count, false))
	tr := tracetest.OpenFile(t, src)
	end := tr.End()
	tr.Close()
	for _, test := range []struct{ share, most int64 }{{100, count/100 + 10}, {10, count/10 + 10}} {
		began := time.Now()
		_, res := cut(t, src, end/2, end/2+end/test.share)
		t.Logf("1/%d: %d of %d bytes, %d records, in %v", test.share, res.Bytes, count*format.ChunkSize, res.Records, time.Since(began).Round(time.Millisecond))
		if res.Bytes > test.most*format.ChunkSize {
			t.Errorf("1/%d of the time takes %d chunks", test.share, res.Bytes/format.ChunkSize)
		}
	}
}
