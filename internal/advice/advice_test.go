package advice

import (
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// slicesGrown returns a row of slices that grew to length n.
func slicesGrown(stack string, made, n int64) row.Row {
	r := row.Row{Kind: row.Slice, Type: "int", Stack: []string{stack, "main.main /src/p/main.go:3", "runtime.goexit /go/src/runtime/asm_amd64.s:1"}}
	r.V[row.Made], r.V[row.Exact], r.V[row.Grown], r.V[row.Copied], r.V[row.GrownBytes] = made, made, made*10, made*n*8, made*n*8
	r.V[row.MaxLen], r.V[row.MinLen], r.V[row.MaxCap] = n, n, 2*n
	r.H[row.Len][row.Bucket(n)] = made
	r.H[row.Cap][row.Bucket(2*n)] = made
	return r
}

func run(rows ...row.Row) row.Run {
	return row.Run{Head: row.Head{Program: "p", Go: "go1.26", CPUs: 2, NS: 1e9, Looked: 1e9}, Rows: rows, Whole: true}
}

func merged(t *testing.T, runs ...row.Run) *Data {
	t.Helper()
	d, err := merge(runs)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMerge: one call stack in two runs is one row, with the sums of both.
func TestMerge(t *testing.T) {
	a := slicesGrown("main.f /src/p/f.go:7", 100, 10000)
	d := merged(t, run(a), run(a))
	r := Of(d, DefaultParams())
	if len(r.Findings) != 1 || r.Runs != 2 || r.Findings[0].Runs != 2 || r.Findings[0].Bytes != 2*100*10000*8 {
		t.Fatalf("%+v", r)
	}
	without := run(a)
	without.Missing = map[string]string{"maps": "it is elsewhere"}
	if d := merged(t, without, without); len(d.Notes) != 1 || !strings.Contains(d.Notes[0], "hook maps") {
		t.Errorf("of a hook that is missing: %q", d.Notes)
	}
	other := run(a)
	other.Program = "q"
	if _, err := merge([]row.Run{run(a), other}); !errors.Is(err, ErrPrograms) {
		t.Errorf("runs of two programs: %v", err)
	}
}

// TestMergeSaturates: sums that overflow saturate, and a note says so.
func TestMergeSaturates(t *testing.T) {
	a := slicesGrown("main.f /src/p/f.go:7", 100, 10000)
	a.V[row.Copied] = math.MaxInt64 - 1
	a.H[row.Len][3] = math.MaxInt64 - 1
	d := merged(t, run(a), run(a))
	if r := d.Rows[0]; r.Stats.V[row.Copied] != math.MaxInt64 || r.H[row.Len][3] != math.MaxInt64 || r.Quantile(row.Len, 0.5) != 3 {
		t.Errorf("copied %d, %d in a bucket", r.Stats.V[row.Copied], r.H[row.Len][3])
	}
	if len(d.Damage) != 1 || !strings.Contains(d.Damage[0], "2 values of the rows have sums that saturate at 9223372036854775807") {
		t.Errorf("damage %q", d.Damage)
	}
}

// TestPlaces: call stacks that lead to one place give one piece of advice, unless PerStack
// is set.
func TestPlaces(t *testing.T) {
	a, b := slicesGrown("main.f /src/p/f.go:7", 100, 10000), slicesGrown("main.f /src/p/f.go:7", 50, 10000)
	b.Stack = append([]string{b.Stack[0], "main.g /src/p/g.go:1"}, b.Stack[1:]...)
	d := merged(t, run(a, b))
	p := DefaultParams()
	if r := Of(d, p); len(r.Findings) != 1 || r.Findings[0].Stacks != 2 || r.Findings[0].Stack[1] != a.Stack[1] {
		t.Errorf("%+v", r.Findings)
	}
	p.PerStack = true
	if r := Of(d, p); len(r.Findings) != 2 {
		t.Errorf("%d pieces of advice for two call stacks", len(r.Findings))
	}
}

// TestStandard: rows within the standard library are left out; its work for a caller is
// attributed to the call.
func TestStandard(t *testing.T) {
	inner := slicesGrown("go/parser.parse /go/src/go/parser/parser.go:7", 100, 10000)
	acts := slicesGrown("slices.Collect[...] /go/src/slices/iter.go:9", 100, 10000)
	d := merged(t, run(inner, acts))
	p := DefaultParams()
	if r := Of(d, p); len(r.Findings) != 1 || r.Hidden != 1 || r.Findings[0].Site != "main.main /src/p/main.go:3" {
		t.Errorf("%+v", r)
	}
	p.Std = true
	if r := Of(d, p); len(r.Findings) != 2 {
		t.Errorf("%+v", r)
	}
}

// TestThresholds: small gains, and disabled diagnostics, are not reported.
func TestThresholds(t *testing.T) {
	small, large := slicesGrown("main.f /src/p/f.go:7", 1, 100), slicesGrown("main.g /src/p/g.go:7", 100, 10000)
	p := DefaultParams()
	if r := Of(merged(t, run(small, large)), p); len(r.Findings) != 1 || r.Small != 1 || r.Findings[0].Site != "main.g /src/p/g.go:7" {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"slice-too-small", "VECTOR_TOO_SMALL", "containers"} {
		p.Off = map[string]bool{name: true}
		if r := Of(merged(t, run(large)), p); len(r.Findings) > 0 {
			t.Errorf("%s is off, and says %+v", name, r.Findings)
		}
	}
	p = DefaultParams()
	p.In = func(f string) bool { return !strings.HasPrefix(f, "main.g") }
	if r := Of(merged(t, run(large)), p); len(r.Findings) > 0 {
		t.Errorf("it is not in the packages that were asked for: %+v", r.Findings)
	}
}

// TestText checks the form of GCC's Profile Mode.
func TestText(t *testing.T) {
	var b strings.Builder
	if err := Of(merged(t, run(slicesGrown("main.f /src/p/f.go:7", 1, 1000000))), DefaultParams()).WriteText(&b, "/src/p"); err != nil {
		t.Fatal(err)
	}
	want := `# p, go1.26: 1.00s counted

f.go:7: slice-too-small: improvement = 6: call stack = main.f (f.go:7) < main.main (main.go:3): advice = make([]int, 0, 1000000) before the first append here saves 10 allocations and copying 7.63 MiB
    saves 2.48ms (0.2% of the CPU time), 7.63 MiB of memory
    seen: 1 slice of 1,000,000 elements
`
	if b.String() != want {
		t.Errorf("%s\nwant:\n%s", b.String(), want)
	}
}

// TestSARIF: the log has the fields that code review tools require.
func TestSARIF(t *testing.T) {
	var b strings.Builder
	if err := Of(merged(t, run(slicesGrown("main.f /src/p/f.go:7", 1, 1000000))), DefaultParams()).WriteSARIF(&b, "/src/p", "v1"); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &log); err != nil {
		t.Fatal(err)
	}
	x := log.Runs[0].Results[0]
	at := x.Locations[0].PhysicalLocation
	if log.Version != "2.1.0" || log.Runs[0].Tool.Driver.Rules[0].ID != "slice-too-small" || x.RuleID != "slice-too-small" ||
		at.ArtifactLocation.URI != "f.go" || at.Region.StartLine != 7 || !strings.Contains(x.Message.Text, "1000000") {
		t.Errorf("%s", b.String())
	}
}

// TestDiff: new advice is worse, vanished advice is better, and the same advice is no
// change, even on another line.
func TestDiff(t *testing.T) {
	f, g := slicesGrown("main.f /src/p/f.go:7", 100, 10000), slicesGrown("main.g /src/p/g.go:7", 100, 10000)
	moved := slicesGrown("main.f /src/p/f.go:9", 100, 10000)
	of := func(rows ...row.Row) *Report { return Of(merged(t, run(rows...)), DefaultParams()) }
	if c := Diff(of(f), of(moved)); len(c) != 0 {
		t.Errorf("nothing changed, and it says %+v", c)
	}
	c := Diff(of(f), of(g))
	if len(c) != 2 || c[0].What != Worse || c[0].Finding.Site != g.Stack[0] || c[1].What != Better || c[1].Finding.Site != f.Stack[0] {
		t.Errorf("%+v", c)
	}
}

// TestConf: a written file reads back with the same parameters.
func TestConf(t *testing.T) {
	p := DefaultParams()
	p.Count, p.LeastNS, p.Off["map-too-small"], p.Weights[copyByte] = 3, 5, true, 0.5
	d := &Data{Params: map[string]string{"depth": "8"}}
	q := DefaultParams()
	counted, err := q.SetAll(p.Conf(d))
	if err != nil || counted["depth"] != "8" {
		t.Fatal(counted, err)
	}
	if q.Count != 3 || q.LeastNS != 5 || !q.Off["map-too-small"] || q.Off["slice-too-small"] || q.Weights[copyByte] != 0.5 || q.Conf(d) != p.Conf(d) {
		t.Errorf("%+v", q)
	}
	for _, bad := range []string{"counts = 3", "count = x", "off.nothing = 1", "weight.nothing = 1", "count"} {
		if _, err := q.SetAll(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// TestWeights: a valid file is used, and an invalid one rejected; all measured weights are
// positive.
func TestWeights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "weights.json")
	if w, known, err := LoadWeights(path); known || err != nil || w[copyByte] != BuiltIn()[copyByte] {
		t.Error(w, known, err)
	}
	c := Calibration{CPU: "x", Weights: Weights{copyByte: 7}}
	if err := c.Save(path); err != nil {
		t.Fatal(err)
	}
	if w, known, err := LoadWeights(path); !known || err != nil || w[copyByte] != 7 || w[alloc] != BuiltIn()[alloc] {
		t.Error(w, known, err)
	}
	for _, bad := range []string{"{", `{"weights": {"nothing": 1}}`, `{"weights": {"alloc": -1}}`} {
		filetest.Write(t, path, []byte(bad))
		if _, _, err := LoadWeights(path); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	for name, v := range Calibrate(1000, func(string) {}) {
		if v <= 0 {
			t.Errorf("%s takes %g ns", name, v)
		}
	}
}

// TestLost: each loss has a description.
func TestLost(t *testing.T) {
	got := strings.Join(lost(map[string]int64{"stacks": 2000, "full.map": 1, "busy.slice": 2, "aged.list": 3, "rate": 1}), "\n")
	for _, want := range []string{"2,000 creations", "a map was not followed 1 time:", "operations of a slice were not counted 2 times", "following a list was stopped, to make room, 3 times", "allocation sites are not known"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// TestCutRaw cuts a raw file at every length: each is an error or has damage, except for one
// that lacks only the final newline, which is complete.
func TestCutRaw(t *testing.T) {
	b := row.AppendHead(nil, &row.Head{Program: "p", Go: "go1.26", CPUs: 2, NS: 1e9, Looked: 1e9, Params: map[string]string{"depth": "32"}, Lost: map[string]int64{"full.map": 12}})
	b = row.AppendFrame(b, 0, "main.main /src/p/main.go:3")
	r := slicesGrown("", 100, 10000)
	for range 11 {
		b = row.AppendRow(b, &r, []int{0})
	}
	whole := row.AppendEnd(b, 11)
	for n := range len(whole) + 1 {
		var s source
		err := s.read("x.raw", strings.NewReader(string(whole[:n])))
		if n >= len(whole)-1 {
			if err != nil || len(s.damage) > 0 {
				t.Errorf("the whole file, %d of %d bytes: %q, %v", n, len(whole), s.damage, err)
			}
			continue
		}
		if err != nil {
			continue
		}
		if d, err := s.merge(); err != nil || len(d.Damage) == 0 || len(d.Notes) == 0 || len(Of(d, DefaultParams()).Damage) == 0 {
			t.Errorf("%d of %d bytes are taken for a whole file: %v", n, len(whole), err)
		}
	}
}

// TestUnknownNumbers: invalid numbers of a raw file are counted, in heads and rows.
func TestUnknownNumbers(t *testing.T) {
	head := "scopeview-advice\t1\tprogram=p\tgo=go1.26\tbuild=\tcpus=2\tns=1000"
	for text, want := range map[string]string{
		head + "\nend\t0\n":                                     "",
		head + "\tlost.full.map=x\tnothing=1\nend\t0\n":         "2 numbers that are unreadable",
		head + "\nslice\tint\tmade=1 unheard=2\t\nend\t1\n":     "1 numbers that are unreadable",
		head + "\nslice\tint\tmade=x\t\nend\t1\n":               "1 unreadable lines are left out",
		head + "\nslice\tint\tmade=1\t7\nend\t1\n":              "1 unreadable lines are left out",
		head + "\nnothing\tint\tmade=1\t\nend\t1\n":             "1 unreadable lines are left out",
		head + "\nslice\tint\tmade=1\t\nend\t2\n":               "cut short",
		head + "\nend\t0\n" + head + "\nslice\tint\tmade=1\t\n": "in the part of run 2",
	} {
		var s source
		if err := s.read("x.raw", strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if damage := strings.Join(s.damage, "; "); !strings.Contains(damage, want) || want == "" && damage != "" {
			t.Errorf("%q: %q, want %q", text, damage, want)
		}
	}
}
