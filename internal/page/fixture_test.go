package page

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

var update = flag.Bool("update", false, "rewrite the fixtures of the page's tests")

// fixtures has containers with their sums: under node the page's own sums are compared with
// these.
const fixtures = "../../export/html/assets/test/fixtures.json"

type fixture struct {
	Name      string       `json:"name"`
	Container string       `json:"container"` // base64
	Sums      []fixtureSum `json:"sums"`
	// Searches has the number of scopes that each search finds, by analysis.Where.
	Searches map[string]int `json:"searches"`
}

// searches are tried on each fixture.
var searches = []string{
	"parse", "-parse", "work", "dur>1us", "-dur>1us", "parse>500ns", "cpu>=100ns", "cpu<1us -sum", `"a b"`, "addr=0xc000012340", "0>3", "1>=1 dur<1s", "never_ended=true", "user_ns>0",
	"a>b", "dur>", "name:re -dur=5ms", "x=",
}

type fixtureSum struct {
	From    int64             `json:"from"`
	To      int64             `json:"to"`
	Whole   bool              `json:"whole"`
	Summary *timeline.Summary `json:"summary"`
}

// TestFixtures keeps the expectations of the page's tests in step with package analysis.
func TestFixtures(t *testing.T) {
	var made []fixture
	for _, name := range []string{"locks", "process", "clock-break", "overlap", "cpu", "no-goroutine", "simple", "end-apart"} {
		golden := filetest.Read(t, "../trace/testdata/"+name+".txtar")
		_, lines, _ := strings.Cut(string(golden), "-- trace --\n")
		lines, _, _ = strings.Cut(lines, "-- expect --\n")
		made = append(made, makeFixture(t, name, lines))
	}
	made = append(made, makeFixture(t, "busy", busyTrace()))
	if *update {
		b, err := json.Marshal(made)
		if err == nil {
			err = os.WriteFile(fixtures, append(bytes.ReplaceAll(b, []byte(`{"name":"`), []byte("\n{\"name\":\"")), '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b := filetest.Read(t, fixtures)
	var kept []fixture
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	for i, f := range made {
		if i >= len(kept) || kept[i].Name != f.Name || !bytes.Equal(inflated(t, kept[i].Container), inflated(t, f.Container)) || asJSON(t, kept[i].Sums) != asJSON(t, f.Sums) || asJSON(t, kept[i].Searches) != asJSON(t, f.Searches) {
			t.Errorf("%s: %s is not what it would be now: go test ./internal/page -run TestFixtures -update", f.Name, fixtures)
		}
	}
}

func makeFixture(t *testing.T, name, lines string) fixture {
	t.Helper()
	tr := tracetest.OpenText(t, lines)
	x, err := timeline.Load(context.Background(), tr, timeline.LoadOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	from, to := x.Whole()
	tile := x.Tile(from, to, 0)
	c := timeline.Container{Meta: x.Meta(tr, timeline.MetaOptions{Tool: "test", Path: name + ".scope", Tile: tile}), Tile: tile}
	var packed bytes.Buffer
	if err := c.WriteTo(&packed, flate.BestCompression); err != nil {
		t.Fatal(err)
	}
	f := fixture{Name: name, Container: base64.StdEncoding.EncodeToString(packed.Bytes())}
	for _, of := range []fixtureSum{{Whole: true}, {From: to / 4, To: to / 2, Whole: true}, {From: to / 4, To: to / 2}} {
		var err error
		if of.Summary, err = timeline.Summarize(context.Background(), tr, of.From, of.To, of.Whole, nil, nil); err != nil {
			t.Fatal(err)
		}
		f.Sums = append(f.Sums, of)
	}
	f.Searches = map[string]int{}
	for _, text := range searches {
		where, err := analysis.ParseWhere(text)
		if err != nil {
			t.Fatal(err)
		}
		choice := (&analysis.Selection{Where: where}).Choice(tr)
		f.Searches[text] = 0
		if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			switch e.Kind {
			case format.KindTask, format.KindTaskf, format.KindProcess, format.KindWait, format.KindHold, format.KindEvent, format.KindPending:
				if choice.Keep(e) {
					f.Searches[text]++
				}
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func inflated(t *testing.T, packed string) []byte {
	t.Helper()
	b, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed))))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// busyTrace returns a trace as text: some goroutines with nested scopes, contended locks,
// and ends out of order.
func busyTrace() string {
	random := rand.New(rand.NewPCG(1, 2))
	type record struct {
		start int64
		line  string
	}
	var list []record
	add := func(goid, start, stop int64, kind string) {
		name := []string{"parse", "read", "sum"}[random.IntN(3)]
		more := fmt.Sprintf("cpu=%d/%s", random.Int64N(stop-start+1), []string{"exact", "likely", "most", "unknown"}[random.IntN(4)])
		if kind != "task" {
			name, more = []string{"mu", "queue"}[random.IntN(2)], "cpu=0/unknown | addr:0xc000012340"
		}
		list = append(list, record{start, fmt.Sprintf("  %s %q g=%d start=%d stop=%d %s", kind, name, goid, start, stop, more)})
	}
	var inside func(goid, from, to int64, depth int)
	inside = func(goid, from, to int64, depth int) {
		for at := from + 1 + random.Int64N(400); at < to-10; at += 1 + random.Int64N(500) {
			stop := at + 1 + random.Int64N(min(to-at, 6000>>depth))
			late := int64(0)
			if random.IntN(20) == 0 {
				late = random.Int64N(600) // ends after the enclosing one
			}
			kind := []string{"task", "task", "task", "wait", "hold"}[random.IntN(5)]
			add(goid, at, stop+late, kind)
			if kind != "wait" && depth < 3 {
				inside(goid, at, stop, depth+1)
			}
			at = stop
		}
	}
	for goid := int64(5); goid < 9; goid++ {
		inside(goid, 1000, 12000, 0)
	}
	slices.SortStableFunc(list, func(a, b record) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	b.WriteString("header\nstate closed=1 tick=20000\nchunk blocks sealed\n")
	for i, name := range []string{"parse", "read", "sum", "mu", "queue"} {
		fmt.Fprintf(&b, "name %d %q\n", i+2, name)
	}
	b.WriteString("stop ticks=20000\n")
	for i, r := range list {
		if i%40 == 0 {
			fmt.Fprintf(&b, "chunk records owner=0 since=%d flags=final sealed\n", r.start)
		}
		b.WriteString(r.line + "\n")
	}
	return b.String()
}
