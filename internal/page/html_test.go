package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const head = "header chunk=65536 clock=monotonic start=1000 mono=1000\nstate closed=1 tick=40000000000000\nchunk blocks\nname 2 \"f\"\nname 3 \"g\"\nstop ticks=40000000000000\n"

// scopes returns records, with room for an extension each.
func scopes(n int, record func(i int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		if i%1000 == 0 {
			b.WriteString("chunk records\n")
		}
		b.WriteString(record(i))
	}
	return b.String()
}

// TestOddTraces: the page has everything of unusual traces.
func TestOddTraces(t *testing.T) {
	depth := func(i int) string {
		return fmt.Sprintf("task \"f\" g=1 start=%d stop=%d\n", 2000+i, 9000-i)
	}
	for _, c := range []struct {
		name   string
		script string
		scopes int
		rows   int
		banner string
	}{
		{"empty", head, 0, 0, ""},
		{"one record", head + "chunk records\ntask \"f\" g=1 start=2000 stop=3000\n", 1, 1, ""},
		{"ten hours beside a hundred nanoseconds", scopes(20_000, func(i int) string {
			if i == 0 {
				return "task \"f\" g=1 start=2000 stop=36000000002000\n"
			}
			return fmt.Sprintf("task \"g\" g=2 start=%d stop=%d\n", 3000+200*i, 3100+200*i)
		}), 20_000, 2, ""},
		{"50,000 goroutines", scopes(50_000, func(i int) string {
			return fmt.Sprintf("task \"f\" g=%d start=%d stop=%d\n", i+1, 3000+i, 3500+i)
		}), 50_000, 50_000, ""},
		{"depth 500", scopes(500, depth), 500, 1, ""},
		{"a name of 1 KiB", head + "chunk blocks\nname 4 \"" + strings.Repeat("n", 1024) + "\"\nchunk records\ntask #4 g=1 start=2000 stop=3000\n", 1, 1, ""},
		{"a clock step", head + "chunk blocks\nbreak before=5000 after=90000\nchunk records\ntask \"f\" g=1 start=2000 stop=95000\n", 1, 1, "the clock stepped"},
		{"losses", head + "chunk blocks\ngap from=2000 to=3000 count=17 reason=busy\n", 0, 0, "17 records were lost: 17 because their goroutine was moved to another processor at each attempt; from 1.00µs to 2.00µs."},
		{"never ended", scopes(12, func(i int) string { return fmt.Sprintf("task \"f\" g=%d start=%d open\n", i+1, 2000+i) }), 12, 12, "is the second () missing"},
		{"not closed", strings.Replace(head, "closed=1", "closed=0", 1) + "chunk records\ntask \"f\" g=1 start=2000 open\n", 1, 1, "1 scope had not ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := dataOf(t, written(t, tracetest.OpenText(t, c.script), Options{Max: DefaultMax, Path: "dir/x.scope"}))
			if h.counts["start"] != c.scopes || h.Meta.Scopes != int64(c.scopes) || len(h.Tile.Rows) != c.rows || h.Meta.Reduced {
				t.Errorf("%d items, %d scopes, %d rows, reduced %v; want %d scopes, %d rows",
					h.counts["start"], h.Meta.Scopes, len(h.Tile.Rows), h.Meta.Reduced, c.scopes, c.rows)
			}
			if int(h.sum("laneCount")) != c.scopes || h.Meta.Title != "x" || len(h.Meta.Info) < 5 {
				t.Errorf("%d in lanes, title %q, info %v", h.sum("laneCount"), h.Meta.Title, h.Meta.Info)
			}
			said := fmt.Sprint(h.Meta.Banner)
			if !strings.Contains(said, c.banner) || c.banner == "" && strings.Contains(said, "lost") {
				t.Errorf("banner %v, want %q", h.Meta.Banner, c.banner)
			}
		})
	}
}

// TestCutTraces: a trace that is cut off anywhere gives a page with its complete part.
func TestCutTraces(t *testing.T) {
	whole := tracetest.Assemble(t, scopes(6000, func(i int) string { return fmt.Sprintf("task \"f\" g=%d start=%d stop=%d\n", i%7+1, 3000+i, 3500+i) }))
	last := -1
	for _, n := range []int{65536 * 2, 65536*2 + 1, 65536*2 + 4000, 65536 * 3, 65536*4 + 77, len(whole)} {
		h := dataOf(t, written(t, tracetest.Open(t, whole[:n]), Options{}))
		if got := h.counts["start"]; got < last || n == len(whole) && got != 6000 {
			t.Errorf("cut at %d: %d scopes, with less there were %d", n, got, last)
		} else {
			last = got
		}
		if said := fmt.Sprint(h.Meta.Banner); n != len(whole) && !strings.Contains(said, "{loss The trace is damaged: the readable part is shown. At offset ") {
			t.Errorf("cut at %d: the banner is %s", n, said)
		}
	}
}

// TestReduced: excess scopes are merged, with a notice, and summed up whole.
func TestReduced(t *testing.T) {
	data := tracetest.Assemble(t, scopes(5000, func(i int) string {
		if i == 2500 {
			return fmt.Sprintf("task \"g\" g=1 start=%d stop=%d\n", 3000+1000*i, 3990+1000*i)
		}
		return fmt.Sprintf("task \"f\" g=1 start=%d stop=%d\n", 3000+1000*i, 3000+1000*i+i%50)
	}))
	h := dataOf(t, written(t, tracetest.Open(t, data), Options{Max: 100}))
	if n := h.counts["start"]; n > 100 || n < 50 || h.sum("count") != 5000 || !h.Meta.Reduced || h.Meta.Scopes != 5000 {
		t.Errorf("%d items of %d scopes, reduced %v, %d scopes", n, h.sum("count"), h.Meta.Reduced, h.Meta.Scopes)
	}
	if s := h.Meta.Summary; s == nil || len(s.Scopes) != 2 || s.Scopes[0].Count != 4999 || s.Scopes[1].Max != 990 {
		t.Errorf("summary %+v", s)
	}
	said := fmt.Sprint(h.Meta.Banner)
	if !strings.Contains(said, "scopeview serve") || !strings.Contains(said, "--from and --to") || !strings.Contains(said, "5,000 records") {
		t.Errorf("banner %v", h.Meta.Banner)
	}
	if h := dataOf(t, written(t, tracetest.Open(t, data), Options{Max: 5000})); h.Meta.Reduced || h.Meta.Summary != nil {
		t.Error("reduced without need")
	}
	if h := dataOf(t, written(t, tracetest.Open(t, data), Options{})); h.Meta.Reduced {
		t.Error("reduced, and all was asked for")
	}
}

// TestSizeLimit: a file that would be too large gets coarser until it fits, unless Large is
// set.
func TestSizeLimit(t *testing.T) {
	data := tracetest.Assemble(t, scopes(20_000, func(i int) string {
		return fmt.Sprintf("task \"f\" g=1 start=%d stop=%d | int:%d\n", 3000+1000*i+i*i%777, 3999+1000*i, i*i)
	}))
	all := written(t, tracetest.Open(t, data), Options{})
	limit := int64(len(all)) * 9 / 10
	small := written(t, tracetest.Open(t, data), Options{limit: limit})
	if h := dataOf(t, small); int64(len(small)) > limit || !h.Meta.Reduced || h.counts["start"] < 10 {
		t.Errorf("%d bytes, limit %d, reduced %v, %d items", len(small), limit, h.Meta.Reduced, h.counts["start"])
	}
	if large := written(t, tracetest.Open(t, data), Options{limit: limit, Large: true}); len(large) != len(all) {
		t.Errorf("%d bytes were asked for, want %d", len(large), len(all))
	}
}

// TestSelection: a selection leaves out other scopes, and the rest is drawn at its own
// depth.
func TestSelection(t *testing.T) {
	data := tracetest.Assemble(t, head+"chunk records\ntask \"f\" g=1 start=2000 stop=9000\ntask \"g\" g=1 start=3000 stop=4000\ntask \"g\" g=1 start=6000 stop=7000\n")
	names, err := glob.Parse("g")
	if err != nil {
		t.Fatal(err)
	}
	h := dataOf(t, written(t, tracetest.Open(t, data), Options{Selection: analysis.Selection{Names: names, From: 4500}}))
	if said := fmt.Sprint(h.Meta.Banner); !strings.Contains(said, "This is a part of the trace: from 4.50µs, names g.") {
		t.Errorf("banner %s", said)
	}
	if h.counts["start"] != 1 || h.bytes["laneDepth"][0] != 0 || h.Tile.From != 4500 {
		t.Errorf("%d items, depth %v, from %d", h.counts["start"], h.bytes["laneDepth"], h.Tile.From)
	}
}

func TestErrors(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Assemble(t, scopes(100, func(i int) string { return fmt.Sprintf("task \"f\" g=1 start=%d stop=%d\n", 3000+i, 3001+i) })))
	full := errors.New("the disk is full")
	if err := Write(context.Background(), failing{full}, tr, Options{}); !errors.Is(err, full) {
		t.Errorf("writing: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Write(ctx, io.Discard, tr, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
