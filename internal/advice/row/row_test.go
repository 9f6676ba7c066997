package row_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// TestBuckets: each value's bucket has an upper bound that is at most a quarter larger, and
// buckets are in order.
func TestBuckets(t *testing.T) {
	last := -1
	for v := int64(0); v < 1<<38; v += 1 + v/7 {
		b := row.Bucket(v)
		if b < last {
			t.Fatalf("bucket %d of %d is below %d", b, v, last)
		}
		last = b
		if h := row.Highest(b); h < v || h > v+v/4 {
			t.Fatalf("%d is in bucket %d, whose highest is %d", v, b, h)
		}
		if next := row.Bucket(row.Highest(b) + 1); next != b+1 {
			t.Fatalf("behind bucket %d comes %d", b, next)
		}
	}
	if row.Bucket(-1) != 0 || row.Bucket(1<<62) != row.Buckets-1 {
		t.Error("what is out of bounds is in no bucket")
	}
}

func TestMerged(t *testing.T) {
	for _, c := range []struct {
		v          row.Value
		a, b, want int64
	}{
		{row.Made, 2, 3, 5}, {row.MaxLen, 2, 3, 3}, {row.MinLen, 2, 3, 2}, {row.MinLen, 0, 3, 3}, {row.MinLen, 2, 0, 2},
		{row.Made, math.MaxInt64, 1, math.MaxInt64}, {row.Made, math.MinInt64, -1, math.MinInt64}, {row.Made, math.MaxInt64, -1, math.MaxInt64 - 1},
	} {
		if got := c.v.Merged(c.a, c.b); got != c.want {
			t.Errorf("%v of %d and %d is %d, want %d", c.v, c.a, c.b, got, c.want)
		}
	}
}

// file returns a raw file of one run.
func file(rows ...row.Row) []byte {
	b := row.AppendHead(nil, &row.Head{Program: "example.com/p", Go: "go1.26.8", CPUs: 2, NS: 1e9, Looked: 5e8,
		Params: map[string]string{"depth": "32"}, Lost: map[string]int64{"full.map": 3}, Missing: map[string]string{"maps": "it is elsewhere"}})
	n := 0
	var lines []byte
	for i := range rows {
		var stack []int
		for _, f := range rows[i].Stack {
			b = row.AppendFrame(b, n, f)
			stack = append(stack, n)
			n++
		}
		lines = row.AppendRow(lines, &rows[i], stack)
	}
	return row.AppendEnd(append(b, lines...), len(rows))
}

func sample() row.Row {
	r := row.Row{Kind: row.Slice, Type: "[]int", Stack: []string{"main.f[go.shape.int] /a b/x.go:3", "main.main /a b/x.go:9"}}
	r.V[row.Made], r.V[row.MinLen] = 7, 2
	r.H[row.Len][row.Bucket(1000)] = 7
	return r
}

// TestRaw: a written file reads back, even if it is the concatenation of two.
func TestRaw(t *testing.T) {
	want := sample()
	b := file(want)
	runs, notes, err := row.Read(bytes.NewReader(append(b, b...)))
	if err != nil || len(notes) > 0 || len(runs) != 2 {
		t.Fatal(runs, notes, err)
	}
	for _, run := range runs {
		if !run.Whole || len(run.Rows) != 1 || !reflect.DeepEqual(run.Rows[0], want) {
			t.Errorf("read %+v, want %+v", run, want)
		}
		if run.Program != "example.com/p" || run.NS != 1e9 || run.Looked != 5e8 || run.Params["depth"] != "32" || run.Lost["full.map"] != 3 || run.Missing["maps"] != "it is elsewhere" {
			t.Errorf("read the head %+v", run.Head)
		}
	}
}

// TestRawBad: the usable part of a damaged file is read, and the rest is reported.
func TestRawBad(t *testing.T) {
	whole := file(sample(), sample())
	for name, c := range map[string]struct {
		file  []byte
		rows  int
		notes string
		err   error
	}{
		"cut short":      {whole[:len(whole)-8], 2, "cut short", nil},
		"cut in a row":   {whole[:len(whole)-30], 1, "1 unreadable lines are left out", nil},
		"another's":      {bytes.Replace(whole, []byte("scopeview-advice\t1"), []byte("scopeview-advice\t9"), 1), 0, "", row.ErrVersion},
		"a later one's":  {append(bytes.Clone(whole), "scopeview-advice\t9\n"...), 2, "", row.ErrVersion},
		"none":           {nil, 0, "", nil},
		"unknown values": {bytes.Replace(whole, []byte("made=7"), []byte("news=7"), 1), 2, "", nil},
		"unknown kind":   {bytes.Replace(whole, []byte("\nslice"), []byte("\nslate"), 1), 1, "1 unreadable lines are left out", nil},
	} {
		runs, notes, err := row.Read(bytes.NewReader(c.file))
		n := 0
		for _, r := range runs {
			n += len(r.Rows)
		}
		if n != c.rows || !errors.Is(err, c.err) || !strings.Contains(strings.Join(notes, "; "), c.notes) {
			t.Errorf("%s: %d rows, notes %q, %v; want %d, %q, %v", name, n, notes, err, c.rows, c.notes, c.err)
		}
	}
	if _, _, err := row.Read(strings.NewReader("hello\n")); err == nil {
		t.Error("a text was read as a raw file")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(file(sample()))
	f.Add([]byte("scopeview-advice\t1\nframe\t0\tx\nmap\t\tmade=1 h_len=3:4\t0\nend\t1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		runs, _, _ := row.Read(bytes.NewReader(b))
		for _, run := range runs {
			for i := range run.Rows {
				run.Rows[i].Quantile(row.Len, 0.5)
			}
		}
	})
}
