package uitest

import (
	"cmp"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/uitest/browser"
)

// TestViewersOfChrome: what speedscope's importer, and that of chrome://tracing
// (catapult, which Go brings along), read out of scopeview export chrome is what the CSV has.
func TestViewersOfChrome(t *testing.T) {
	for name, make := range map[string]func(*testing.T) string{"the store": storeTrace, "together": together} {
		t.Run(name, func(t *testing.T) {
			trace := make(t)
			file := pathOf(t, "x.json")
			run(t, "export", "chrome", trace, "-o", file)
			want := barsOf(t, trace)
			t.Run("speedscope", func(t *testing.T) { bySpeedscope(t, file, sums(want)) })
			t.Run("catapult", func(t *testing.T) { byCatapult(t, file, want) })
		})
	}
}

// run runs the tool and returns what it prints.
func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := cmd.Run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// together is a trace of a process that has run for half an hour, with scopes that end, or
// begin, in the nanosecond in which others end.
func together(t *testing.T) string {
	var b strings.Builder
	b.WriteString("header start=1\nstate closed=1 tick=1800000000000\nchunk blocks sealed\n")
	for i := range 10 {
		fmt.Fprintf(&b, "name %d \"n%d\"\n", i+2, i)
	}
	b.WriteString("stop ticks=1800000000000\nchunk records owner=0 since=1 flags=final sealed\n")
	random := rand.New(rand.NewPCG(1, 13))
	n := 0
	var within func(goid, depth int, from, to int64)
	within = func(goid, depth int, from, to int64) {
		for from < to && depth < 6 && n < goid*1000 {
			stop := to
			if random.IntN(3) > 0 {
				stop = from + 1 + random.Int64N(to-from)
			}
			if n++; n%100 == 0 {
				fmt.Fprintf(&b, "chunk records owner=0 since=1 flags=final sealed\n")
			}
			fmt.Fprintf(&b, "task \"n%d\" g=%d start=%d stop=%d cpu=0/unknown\n", depth, goid, from, stop)
			within(goid, depth+1, from, stop)
			from = stop
		}
	}
	for goid := 1; goid < 4; goid++ {
		for from := int64(1_779_692_866_001); from < 1_779_692_866_001+40_000_000; from += 2_000_000 {
			within(goid, 0, from+random.Int64N(1000), from+1_000_000+random.Int64N(900_000))
		}
	}
	path := pathOf(t, "together.scope")
	if err := os.WriteFile(path, tracetest.Assemble(t, b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// bar is a scope as a viewer has it.
type bar struct {
	Track, Name string
	Start, Dur  int64
}

func barsOf(t *testing.T, trace string) (all []bar) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(run(t, "export", "csv", trace))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range rows[1:] {
		switch cells[0] {
		case "task", "process", "wait", "hold":
			x := bar{Track: cells[2], Name: cells[1]}
			if x.Track == "" {
				x.Track = "goroutine " + cells[3]
			}
			x.Start, _ = strconv.ParseInt(cells[6], 10, 64)
			x.Dur, _ = strconv.ParseInt(cells[7], 10, 64)
			all = append(all, x)
		}
	}
	if len(all) < 100 {
		t.Fatalf("%s has %d scopes", trace, len(all))
	}
	return all
}

// sums are the durations by row and name; rows have no "(2)".
func sums(all []bar) map[string]int64 {
	m := map[string]int64{}
	for _, x := range all {
		m[x.Track+" "+x.Name] += x.Dur
	}
	return m
}

func bySpeedscope(t *testing.T, file string, want map[string]int64) {
	pages, err := filepath.Abs("node_modules/speedscope/dist/release/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pages); err != nil {
		t.Skip("no speedscope from npm; make deps installs it")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// As speedscope's own command does it.
	script := pathOf(t, "load.js")
	load := `speedscope.loadFileFromBase64("x.json", "` + base64.StdEncoding.EncodeToString(data) + `")`
	if err := os.WriteFile(script, []byte(load), 0o600); err != nil {
		t.Fatal(err)
	}
	p := foreign(t, fileURL(pages)+"#localProfilePath="+script)
	// It exports all that it has imported.
	check(t, p.Eval(`URL.createObjectURL = (b) => { b.text().then((s) => { window.saved = s; }); return "data:,"; }; 0`, nil))
	check(t, p.Wait(`window.dispatchEvent(new KeyboardEvent("keydown", {key: "s", ctrlKey: true})), window.saved`, time.Minute))
	var saved string
	check(t, p.Eval("window.saved", &saved))
	for _, f := range p.Faults() {
		if strings.HasPrefix(f, "console.warning: ") {
			t.Errorf("speedscope says: %s", f)
		}
	}
	var imported struct {
		Shared   struct{ Frames []struct{ Name string } }
		Profiles []struct {
			Name   string
			Events []struct {
				Type  string
				Frame int
				At    float64
			}
		}
	}
	check(t, json.Unmarshal([]byte(saved), &imported))
	got := map[string]int64{}
	for _, profile := range imported.Profiles {
		var open []float64
		_, track, _ := strings.Cut(profile.Name, "), ") // "hello (pid 1), worker 1 (2) (tid 7)"
		track = track[:strings.LastIndex(track, " (tid ")]
		track = strings.TrimSuffix(track, " (2)")
		for _, e := range profile.Events {
			if e.Type == "O" {
				open = append(open, e.At)
				continue
			}
			name, _, _ := strings.Cut(imported.Shared.Frames[e.Frame].Name, " {") // its arguments
			got[track+" "+name] += int64(math.Round((e.At - open[len(open)-1]) * 1000))
			open = open[:len(open)-1]
		}
	}
	same(t, got, want)
}

func byCatapult(t *testing.T, file string, want []bar) {
	static := filepath.Join(runtime.GOROOT(), "src", "internal", "trace", "traceviewer", "static")
	components, err := os.ReadFile(filepath.Join(static, "webcomponents.min.js"))
	viewer, err2 := os.ReadFile(filepath.Join(static, "trace_viewer_full.html"))
	if err != nil || err2 != nil {
		t.Skip("this Go brings no viewer of its own along: ", cmp.Or(err, err2))
	}
	data, err := os.ReadFile(file)
	check(t, err)
	page := pathOf(t, "catapult.html")
	check(t, os.WriteFile(page, slices.Concat([]byte("<!doctype html><meta charset=utf-8><script>"), components, []byte("</script>"), viewer), 0o600))
	p := foreign(t, fileURL(page))
	check(t, p.Wait("window.tr && tr.Model && tr.importer && tr.importer.Import", time.Minute))
	source, err := json.Marshal(string(data))
	check(t, err)
	var got struct {
		Bars   []bar
		Across []string
	}
	check(t, p.Eval(`(() => {
		const m = new tr.Model(), options = new tr.importer.ImportOptions();
		options.showImportWarnings = false;
		options.shiftWorldToZero = false;
		new tr.importer.Import(m, options).importTraces([`+string(source)+`]);
		const found = {bars: [], across: m.importWarnings.map((w) => w.message)};
		const ns = (ms) => Math.round(ms * 1e6);
		for (const thread of m.getAllThreads()) {
			for (const s of thread.sliceGroup.slices) {
				if (!["task", "process", "wait", "hold"].includes(s.category)) continue;
				found.bars.push({track: thread.name.replace(/ \(2\)$/, ""), name: s.title, start: ns(s.start), dur: ns(s.duration)});
				for (const sub of s.subSlices) {
					if (ns(sub.start) < ns(s.start) || ns(sub.end) > ns(s.end)) found.across.push(s.title + " has " + sub.title);
				}
			}
			// Those of one level do not meet.
			const last = [];
			const walk = (s, level) => {
				if (last[level] > ns(s.start)) found.across.push(s.title + " begins before what is beside it ends");
				last[level] = ns(s.end);
				s.subSlices.forEach((sub) => walk(sub, level + 1));
			};
			thread.sliceGroup.topLevelSlices.forEach((s) => walk(s, 0));
		}
		return found;
	})()`, &got))
	for _, s := range got.Across {
		t.Errorf("catapult: %s", s)
	}
	order := func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.Track, b.Track), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Dur, b.Dur), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(got.Bars, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got.Bars, want) {
		t.Errorf("catapult has %d scopes, want %d", len(got.Bars), len(want))
		for i := range min(len(want), len(got.Bars)) {
			if got.Bars[i] != want[i] {
				t.Fatalf("the first that differs is %+v, want %+v", got.Bars[i], want[i])
			}
		}
	}
}

// foreign opens a page that is not ours.
func foreign(t *testing.T, address string) *browser.Page {
	t.Helper()
	p, err := current(t).Open(address, browser.View{})
	check(t, err)
	t.Cleanup(p.Close)
	return p
}

func same(t *testing.T, got, want map[string]int64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s took %d ns, want %d", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d rows and names, want %d: %v", len(got), len(want), slices.Sorted(maps.Keys(got)))
	}
}
