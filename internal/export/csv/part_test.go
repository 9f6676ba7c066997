package csv

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestParts: into what parts a trace is cut makes no difference to its rows, those of
// heartbeats among them.
func TestParts(t *testing.T) {
	data := map[string][]byte{}
	for seed := range uint64(4) {
		data[fmt.Sprint("random ", seed)] = tracetest.Random(t, seed, seed%2 == 1)
	}
	for _, g := range tracetest.Goldens(t, "../../trace") {
		data[g.Name] = g.Bytes(t)
	}
	for name, b := range data {
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			continue // a golden that is no trace
		}
		for _, sel := range []analysis.Selection{{}, {From: tr.End() / 3, To: tr.End() / 2}} {
			rows := func(stretch int) string {
				var out bytes.Buffer
				if err := Write(context.Background(), &out, tr, Options{Selection: sel, States: true, stretch: stretch}); err != nil {
					t.Fatal(name, err)
				}
				return out.String()
			}
			want := rows(1 << 30)
			for _, stretch := range []int{64, 3000, 20_000} {
				if got := rows(stretch); got != want {
					t.Fatalf("%s in parts of %d bytes:\n%s\nwant\n%s", name, stretch, got, want)
				}
			}
		}
	}
}

// TestNumbers: numbers are as strconv has them.
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
