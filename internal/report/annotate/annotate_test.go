package annotate

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

var program = filepath.Join("..", "..", "symbols", "testdata", "prog")

// build builds the program of internal/symbols.
func build(t *testing.T, flags ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), ".")...)
	cmd.Dir = program
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// built returns the program of internal/symbols, and samples of it with known results: 3 s in line
// 13, the rest in third, which is inlined into first and second.
func built(t *testing.T, flags ...string) (path string, p *samples.Profile) {
	t.Helper()
	path = build(t, flags...)
	b, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	const slide = 0x10000
	frame := func(in, name string, line int) *symbols.Frame {
		f := b.Find(in)[0]
		for pc := f.Entry; pc < f.End; pc++ {
			if _, _, n := b.At(pc); n == line {
				return &symbols.Frame{Func: name, File: f.File, Line: line, PC: pc + slide, Inlined: in != name}
			}
		}
		t.Fatalf("%s has no code of line %d", in, line)
		return nil
	}
	mainCall := frame("main.main", "main.main", 42)
	stack := func(ns int64, frames ...*symbols.Frame) samples.Stack {
		return samples.Stack{Frames: append(frames, mainCall), Values: []int64{ns}}
	}
	return path, &samples.Profile{
		Metrics: []samples.Metric{{Name: "cpu", Title: "CPU time", Unit: samples.Nanoseconds}}, Preset: "cpu", BuildID: b.BuildID, Binary: path,
		Stacks: []samples.Stack{
			stack(3e9, frame("main.index", "main.index", 13)),
			stack(5e8, frame("main.first", "main.third", 8), frame("main.first", "main.first", 34)),
			stack(5e8, frame("main.second", "main.third", 8), frame("main.second", "main.second", 38)),
			stack(1000, frame("main.escapes", "main.escapes", 19)),
		},
	}
}

func viewOf(t *testing.T, p *samples.Profile) *profile.View {
	t.Helper()
	v, err := profile.NewView(p, nil, "e.cpu:i.cpu", "", glob.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// lines writes a report and returns its lines, with single blanks between cells.
func lines(r *profile.Report) (list []string) {
	var b report.Text
	r.Text(&b)
	for line := range strings.Lines(b.String()) {
		list = append(list, strings.Join(strings.Fields(line), " "))
	}
	return list
}

// TestSource checks the four marks, hot lines, inlined copies added up, and the compiler's remarks
// with their price, for a plain and for a stripped executable.
func TestSource(t *testing.T) {
	for _, flags := range [][]string{nil, {"-ldflags=-s -w"}, {"-trimpath"}} {
		path, p := built(t, flags...)
		code := &Code{Hot: 0.75, Remarks: true}
		code.UseBinary(p, "", "")
		dir, err := filepath.Abs(program)
		if err != nil {
			t.Fatal(err)
		}
		code.Sources.Map = [][2]string{{"example.com/prog", dir}}
		if code.Why != "" {
			t.Fatalf("%s: %s", path, code.Why)
		}
		r, err := Source(t.Context(), viewOf(t, p), code, "main.go")
		if err != nil {
			t.Fatal(err)
		}
		got := lines(r)
		for _, want := range []string{
			"6 // third is inlined in two places.",                         // blank: no code
			"// inlined here in 2 places: main.first, main.second",         // before its line
			"1.000 1.000 8 return n * n / 3",                               // both copies
			"## 3.000 3.000 13 return list[i] // checked",                  // the hottest
			"// the index is checked: 75% of all cpu",                      // with its price
			"0.000 0.000 19 return &x",                                     // in the data, and rounds to zero
			"0. 0. 18 x := n // moved to the heap",                         // code, and not in the data
			"// moved to heap: x",                                          // no price: the line has no samples
			"0.000 0.500 34 func first(n int) int { return third(n) + 1 }", // in the data as a caller
			"0.000 4.000 42 kept = escapes(index([]int{1, 2, 3}, 1))",      // all of it
			"28 println(\"dead\")",                                         // removed by the compiler
		} {
			if !slices.Contains(got, want) {
				t.Errorf("%q: no line %q in\n%s", flags, want, strings.Join(got, "\n"))
			}
		}
		at := slices.Index(got, "// the index is checked: 75% of all cpu")
		if at < 0 || got[at+1] != "## 3.000 3.000 13 return list[i] // checked" {
			t.Errorf("the commentary does not stand before its line")
		}
	}
}

// TestPriceOfHeap: escapes are priced by allocated bytes if those are known, in a recording and in
// runtime/pprof's heap profile; other remarks by the first column.
func TestPriceOfHeap(t *testing.T) {
	for _, metric := range []string{"alloc-bytes", "alloc_space"} {
		_, p := built(t)
		p.Metrics = append(p.Metrics, samples.Metric{Name: metric, Title: "bytes", Unit: samples.Bytes})
		for i := range p.Stacks {
			p.Stacks[i].Values = append(p.Stacks[i].Values, 23)
		}
		f := *p.Stacks[3].Frames[0]
		f.Line, f.PC = 18, 0
		p.Stacks = append(p.Stacks, samples.Stack{Frames: []*symbols.Frame{&f, p.Stacks[3].Frames[1]}, Values: []int64{0, 108}})
		dir, err := filepath.Abs(program)
		if err != nil {
			t.Fatal(err)
		}
		code := &Code{Hot: 0.75, Remarks: true}
		code.UseBinary(p, "", "")
		code.Sources.Map = [][2]string{{"example.com/prog", dir}}
		r, err := Source(t.Context(), viewOf(t, p), code, "main.go")
		if err != nil {
			t.Fatal(err)
		}
		got := lines(r)
		for _, want := range []string{"// moved to heap: x: 54% of all " + metric, "// the index is checked: 75% of all cpu"} {
			if !slices.Contains(got, want) {
				t.Errorf("no line %q in\n%s", want, strings.Join(got, "\n"))
			}
		}
	}
}

// TestSourceOfFunction shows only that function's lines. Without an executable, lines that are not
// in the data are blank, and the report says why.
func TestSourceOfFunction(t *testing.T) {
	path, p := built(t)
	code := &Code{Hot: 0.75}
	code.UseBinary(p, "", "")
	r, err := Source(t.Context(), viewOf(t, p), code, "escapes")
	if err != nil {
		t.Fatal(err)
	}
	got := lines(r)
	if want := []string{"0. 0. 17 func escapes(n int) *int {", "0. 0. 18 x := n // moved to the heap", "0.000 0.000 19 return &x", "20 }"}; !slices.Equal(got[len(got)-4:], want) {
		t.Errorf("%q", got)
	}
	p.BuildID = "other"
	code = &Code{Hot: 0.75}
	code.UseBinary(p, path, "")
	r, err = Source(t.Context(), viewOf(t, p), code, "main.escapes")
	if err != nil {
		t.Fatal(err)
	}
	got = lines(r)
	if !strings.Contains(strings.Join(got, "\n"), "is from another build: its id is") || !slices.Contains(got, "18 x := n // moved to the heap") {
		t.Errorf("%q", got)
	}
	if _, err := Source(t.Context(), viewOf(t, p), code, "nobody"); err == nil {
		t.Error("there is no such function")
	}
}

// TestDisasm: each line appears once, before the first instruction that is not of an earlier line;
// values appear at instructions; calls have names.
func TestDisasm(t *testing.T) {
	_, p := built(t)
	code := &Code{}
	code.UseBinary(p, "", "")
	r, err := Disasm(t.Context(), viewOf(t, p), code, "main.index")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(lines(r), "\n")
	for _, want := range []string{
		`(?m)^12\. func index\(list \[\]int, i int\) int \{$`, `(?m)^3\.000 3\.000 \[13\] [0-9a-f]+: `, `CALL runtime\.panic(Index|Bounds).*\(SB\)`, `(?m)^0\. 0\. \[1[23]\] [0-9a-f]+: RET`,
	} {
		if !regexp.MustCompile(want).MatchString(all) {
			t.Errorf("no %s in\n%s", want, all)
		}
	}
	dir, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	said := &Code{Remarks: true}
	said.UseBinary(p, "", "")
	said.Sources.Map = [][2]string{{"example.com/prog", dir}}
	if r, err = Disasm(t.Context(), viewOf(t, p), said, "main.index"); err != nil {
		t.Fatal(err)
	}
	got := lines(r)
	if at := slices.Index(got, "// the index is checked: 75% of all cpu"); at < 0 || !strings.HasPrefix(got[at+1], "13. return list[i]") {
		t.Errorf("the compiler's remark, with the line's price, does not stand before the line:\n%s", strings.Join(got, "\n"))
	}
	if n := strings.Count(all, "13. return list[i]"); n != 1 {
		t.Errorf("line 13 stands there %d times:\n%s", n, all)
	}
	if strings.Index(all, "13. return list[i]") > strings.Index(all, "3.000 3.000 [13]") {
		t.Errorf("line 13 stands behind its instructions:\n%s", all)
	}
	if r, err = Disasm(t.Context(), viewOf(t, p), code, "main.generic[...]"); err != nil || strings.Count(strings.Join(lines(r), "\n"), "main.generic[go.shape.") < 2 {
		t.Errorf("two instances: %v", err)
	}
	if _, err := Disasm(t.Context(), viewOf(t, p), code, "main.third"); err == nil || !strings.Contains(err.Error(), "all its calls were inlined") {
		t.Errorf("an inlined function: %v", err)
	}
	if _, err := Disasm(t.Context(), viewOf(t, p), &Code{Why: "nobody knows"}, "main.index"); err == nil || !strings.Contains(err.Error(), "nobody knows") {
		t.Errorf("without the executable: %v", err)
	}
}
