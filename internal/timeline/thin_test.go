package timeline

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// tiny loads even a small trace as a large one, with stretches of few items.
var tiny = Size{From: 1, Runs: 100, Every: 70, Most: 2000, Running: 2}

// bothWays loads a trace with every item, and thin.
func bothWays(t *testing.T, data []byte, size Size) (whole, thin *Index) {
	t.Helper()
	load := func(o LoadOptions) *Index {
		x, err := Load(context.Background(), tracetest.Open(t, data), o)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	return load(LoadOptions{}), load(LoadOptions{Size: size, Still: true})
}

// packedTile returns a tile as it is sent.
func packedTile(t *testing.T, c *Container) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestThinEqualsWhole: for any request the result is, byte for byte, that of an index with
// every item.
func TestThinEqualsWhole(t *testing.T) {
	data := map[string][]byte{}
	for seed := range uint64(4) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed == 3)
	}
	for _, shape := range []bulk.Shape{bulk.Rows, bulk.Deep, bulk.Long, bulk.Args, bulk.Killed} {
		file := &writerAt{}
		if _, err := (bulk.Trace{Shape: shape, Scopes: 6000, Seed: 1}).Write(file); err != nil {
			t.Fatal(err)
		}
		data[string(shape)] = file.b
	}
	for name, b := range data {
		t.Run(name, func(t *testing.T) {
			size := tiny
			if len(b) > 190_000 {
				size.Every, size.Most, size.Runs = 500, 16000, 2000
			}
			whole, thin := bothWays(t, b, size)
			if thin.thin == nil {
				t.Skip("the events are not in order, or it is a ring")
			}
			if len(thin.thin.begins) < 4 {
				t.Errorf("%d stretches, at %d ns", len(thin.thin.begins), thin.thin.base)
			}
			same := func(what string, got, want *Container) {
				t.Helper()
				if packedTile(t, got) == packedTile(t, want) {
					return
				}
				g, w := pack(t, got).items(), pack(t, want).items()
				for i := range g {
					if i >= len(w) || g[i] != w[i] {
						t.Fatalf("%s: item %d of %d: %+v\nwant, of %d: %+v", what, i, len(g), g[i], len(w), w[min(i, len(w)-1)])
					}
				}
				t.Fatalf("%s: other bytes, of %d items; want %d", what, len(g), len(w))
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			_, end := whole.Whole()
			ctx := context.Background()
			windows := 25
			if testing.Short() {
				windows = 8
			}
			for k := range windows {
				from, to := rnd.Int64N(end+1), rnd.Int64N(end+1)
				if from, to = min(from, to), max(from, to); rnd.IntN(3) == 0 {
					to = min(to, from+rnd.Int64N(1+end/50))
				}
				if k == 0 {
					from, to = 0, end
				}
				res := int64(1) << rnd.IntN(30) >> 1
				w, err := thin.Window(ctx, from, to, res)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("[%d, %d] at %d", from, to, res)
				same(what, &Container{Tile: w.Tile(from, to, res)}, &Container{Tile: whole.Tile(from, to, res)})

				most := rnd.Int64N(1 + int64(1)<<rnd.IntN(12))
				got, err := thin.Part(ctx, from, to, most, res)
				if err != nil {
					t.Fatal(err)
				}
				want, err := whole.Part(ctx, from, to, most, res)
				if err != nil {
					t.Fatal(err)
				}
				same("part "+what, &Container{Tile: got}, &Container{Tile: want})
				name := uint16(2 + rnd.IntN(9))
				runs := func(x *Index) *Container {
					tile, err := x.Runs(ctx, name, from, to, most)
					if err != nil {
						t.Fatal(err)
					}
					return &Container{Tile: tile}
				}
				same(fmt.Sprintf("executions of %d, at most %d, %s", name, most, what), runs(thin), runs(whole))
				same("locks "+what, &Container{Locks: thin.LockTile(from, to, most)}, &Container{Locks: whole.LockTile(from, to, most)})
			}
			same("open", &Container{Live: true, Open: thin.Open()}, &Container{Live: true, Open: whole.Open()})
			if a, b := thin.Items(), whole.Items(); a != b || thin.Count(0, math.MaxInt64) != whole.Count(0, math.MaxInt64) {
				t.Errorf("%d items, want %d", a, b)
			}
			for _, most := range []int64{5, 20} {
				if a, b := thin.ResFor(0, end, most), whole.ResFor(0, end, most); a != b {
					t.Errorf("at most %d: at %d, want %d", most, a, b)
				}
			}
		})
	}
}

// writerAt is a file in memory.
type writerAt struct{ b []byte }

func (w *writerAt) WriteAt(p []byte, off int64) (int, error) {
	if n := int(off) + len(p); n > len(w.b) {
		w.b = append(w.b, make([]byte, n-len(w.b))...)
	}
	return copy(w.b[off:], p), nil
}
