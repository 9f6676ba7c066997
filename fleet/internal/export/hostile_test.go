package export

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestHostile: of traces that are broken in every known way there is an error, or what is whole
// of them. Nothing is written outside the directory, and no file is half.
func TestHostile(t *testing.T) {
	in := t.TempDir()
	traces := [][]byte{tracetest.Hostile(t)}
	for _, g := range tracetest.Goldens(t, "../../../internal/trace") {
		traces = append(traces, g.Bytes(t))
	}
	for seed := range uint64(20) {
		traces = append(traces, tracetest.Random(t, seed, true))
	}
	out, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for i, b := range traces {
		path := filepath.Join(in, fmt.Sprintf("%d.scope", i))
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Trace(context.Background(), path, out, Options{}); err == nil {
			done++
		}
	}
	if done < len(traces)/4 {
		t.Errorf("%d of %d traces were exported", done, len(traces))
	}
	for p := range contents(t, out.String()) {
		if !strings.HasSuffix(p, ".parquet") || strings.Contains(p, "/.") {
			t.Errorf("%q is left", p)
		}
	}
	column(t, out.String(), "scopes", "args") // all of them can be read
}

// TestMidnight: each row is in the directory of its UTC date.
func TestMidnight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	// It starts two seconds before midnight.
	tracetest.Write(t, path, "header pid=7 wall=1700006398000000000\nstate closed=1 tick=9000000000\nchunk blocks sealed\nname 2 \"a\"\nname 3 \"b\"\n"+
		"stop ticks=9000000000\nchunk records owner=0 since=1000 flags=final sealed\n"+
		"task \"a\" g=1 start=1000000000 stop=4000000000 cpu=0/unknown\ntask \"b\" g=1 start=3000000000 stop=3500000000 cpu=0/unknown\n")
	dir, _ := exported(t, path, t.TempDir(), Options{})
	var got []string
	for p := range contents(t, filepath.Join(dir, "scopes")) {
		got = append(got, strings.Split(filepath.ToSlash(p), "/")[1])
	}
	slices.Sort(got)
	if want := []string{"date=2023-11-14", "date=2023-11-15"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWeight: where calls were counted and not recorded, a scope stands for several.
func TestWeight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	tracetest.Write(t, path, "header\nstate closed=1 tick=9000\nchunk blocks sealed\nname 2 \"a\"\nname 3 \"b\"\ncalls ticks=5000 2:1000:2:3000\nstop ticks=9000\n"+
		"chunk records owner=0 since=1000 flags=final sealed\n"+
		"task \"a\" g=1 start=2000 stop=2500 cpu=0/unknown\ntask \"a\" g=1 start=2600 stop=2800 cpu=0/unknown\ntask \"b\" g=1 start=3000 stop=3500 cpu=0/unknown\n")
	dir, _ := exported(t, path, t.TempDir(), Options{})
	var got []float64
	for _, w := range column(t, dir, "scopes", "weight") {
		got = append(got, w.Double())
	}
	if want := []float64{500, 500, 1}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for i, w := range column(t, dir, "durations", "weight") {
		if want := []float64{500, 500, 1}[i]; w.Double() != want {
			t.Errorf("%v, want %v", w, want)
		}
	}
}
