package csv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestParts: the division of a trace into parts does not change its rows, including those of
// heartbeats.
func TestParts(t *testing.T) {
	data := map[string][]byte{}
	for seed := range uint64(4) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
	}
	for _, g := range tracetest.Goldens(t, "../../trace") {
		data[g.Name] = g.Bytes(t)
	}
	data["many chunks"] = tracetest.Bulk(40, true)
	for name, b := range data {
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue // a golden that is no trace
		}
		for _, sel := range []analysis.Selection{{}, {From: tr.End() / 3, To: tr.End() / 2}} {
			rows := func(stretch, most int) string {
				var out bytes.Buffer
				if err := Write(context.Background(), &out, tr, Options{Selection: sel, States: true, stretch: stretch, most: most}); err != nil {
					t.Fatal(name, err)
				}
				return out.String()
			}
			want := rows(1<<30, 1<<30)
			for _, stretch := range []int{64, 3000, 20_000} {
				if got := rows(stretch, 0); got != want {
					t.Fatalf("%s in parts of %d bytes:\n%s\nwant\n%s", name, stretch, got, want)
				}
				if rows(stretch, 100) != want {
					t.Fatalf("%s in parts of %d bytes, written when it is their turn, is not the same", name, stretch)
				}
			}
		}
	}
}

// TestNumbers: numbers are formatted as by strconv.
func TestNumbers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	check := func(v int64) {
		if got, want := string(appendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		if got, want := string(appendUint(nil, uint64(v))), strconv.FormatUint(uint64(v), 10); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	for v := int64(1); ; v *= 10 {
		for d := int64(-2); d <= 2; d++ {
			check(v + d)
			check(-v + d)
		}
		if v > 1e17 {
			break
		}
	}
	for v := range int64(1e5) {
		check(v)
	}
	for range 10_000 {
		check(int64(rnd.Uint64() >> rnd.IntN(64)))
	}
}

// full is a disk with room for some bytes.
type full int

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	if *f -= full(len(b)); *f < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFull: an error of the writer ends the export, whichever goroutine gets it.
func TestFull(t *testing.T) {
	data := tracetest.Bulk(40, true)
	for _, most := range []int{0, 100, 1 << 14} {
		for _, room := range []full{0, 100, 10_000, 300_000} {
			tr := tracetest.Open(t, data)
			if err := Write(context.Background(), &room, tr, Options{most: most}); !errors.Is(err, errFull) {
				t.Errorf("%d bytes at most, a disk of %d: %v", most, room, err)
			}
		}
	}
}
