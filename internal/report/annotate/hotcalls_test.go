package annotate

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// profiledProgram has one call, in line 15, which is inlined because of the profile.
const profiledProgram = `package main

func work(n int) int {
	for i := range n {
		n += n / (i + 1) * (n / (i + 2)) / (n / (i + 3)) * (n / (i + 4))
		n += n / (i + 5) * (n / (i + 6)) / (n / (i + 7)) * (n / (i + 8))
		n += n / (i + 9) * (n / (i + 10)) / (n / (i + 11)) * (n / (i + 12))
	}
	return n
}

//go:noinline
func run(n int) int {
	n++
	n += work(n)
	return n
}

func main() { println(run(3)) }
`

// profiled builds a program with a default.pgo, and returns samples of it.
func profiled(t *testing.T, flags ...string) (dir string, p *samples.Profile) {
	t.Helper()
	dir = t.TempDir()
	made := pgo.New(pgo.Samples)
	if err := made.Add(pgo.Location{{Func: "main.work", Start: 3, Line: 5}}, pgo.Location{{Func: "main.run", Start: 13, Line: 15}}, false, 9); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := made.Write(&b); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/prog\n\ngo 1.24\n", "main.go": profiledProgram, "default.pgo": b.String()} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	path := filepath.Join(dir, "prog")
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), ".")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exe, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	run := exe.Find("main.run")[0]
	inline := &symbols.Frame{Func: "main.work", File: run.File, Line: 5, PC: run.Entry, Inlined: true}
	caller := &symbols.Frame{Func: "main.run", File: run.File, Line: 15, PC: run.Entry}
	return dir, &samples.Profile{
		Metrics: []samples.Metric{{Name: "cpu", Title: "CPU time", Unit: samples.Nanoseconds}}, Preset: "cpu", BuildID: exe.BuildID, Binary: path,
		Stacks: []samples.Stack{{Frames: []*symbols.Frame{inline, caller}, Values: []int64{1e9}}},
	}
}

// TestHotCalls: all views show the compiler's treatment of the call, with any build flags.
func TestHotCalls(t *testing.T) {
	const said = "100% of the calls by default.pgo: inlined because of the profile, cost 82"
	for _, flags := range [][]string{nil, {"-trimpath"}} {
		dir, p := profiled(t, flags...)
		code := &Code{Hot: 0.75, Remarks: true}
		code.Sources.Map = [][2]string{{"example.com/prog", dir}}
		code.UseBinary(p, "", "")
		v := viewOf(t, p)
		source, err := Source(t.Context(), v, code, "main.run")
		if err != nil {
			t.Fatal(err)
		}
		disasm, err := Disasm(t.Context(), v, code, "main.run")
		if err != nil {
			t.Fatal(err)
		}
		callers, err := Callers(t.Context(), v, code, "main.work")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			r          *profile.Report
			want, next string
		}{
			{source, "// call of main.work, " + said, "## 0.000 1.000 15 n += work(n)"},
			{disasm, "// call of main.work, " + said, "15. n += work(n)"},
			{callers, "1.000 0. 1.000 main.run line 15, " + said, "1.000 1.000 1.000 *main.work"},
		} {
			got := lines(x.r)
			at := slices.Index(got, x.want)
			if at < 0 || strings.TrimPrefix(got[at+1], "## ") != strings.TrimPrefix(x.next, "## ") {
				t.Errorf("%q: no %q before %q in\n%s", flags, x.want, x.next, strings.Join(got, "\n"))
			}
		}
		if err := os.Remove(filepath.Join(dir, "default.pgo")); err != nil {
			t.Fatal(err)
		}
		if calls, err := code.HotCalls(t.Context(), p); calls != nil || err != nil {
			t.Errorf("without the profile: %+v, %v", calls, err)
		}
		if callers, err = Callers(t.Context(), v, code, "main.work"); err != nil || !strings.Contains(strings.Join(lines(callers), "\n"), "the program is not built with a profile, or") {
			t.Errorf("%v: it is not said that there is no profile", err)
		}
		filetest.Write(t, filepath.Join(dir, "default.pgo"), []byte("nonsense"))
		if _, err := code.HotCalls(t.Context(), p); err == nil || !strings.Contains(err.Error(), "default.pgo that the program is built with") {
			t.Errorf("with a damaged profile: %v", err)
		}
	}
}

// TestNoHotCalls: nothing is built if remarks are not wanted, or if the program has no profile.
func TestNoHotCalls(t *testing.T) {
	_, p := built(t)
	for _, code := range []*Code{{}, {Remarks: true}} {
		code.UseBinary(p, "", "")
		if calls, err := code.HotCalls(t.Context(), p); calls != nil || err != nil {
			t.Errorf("%+v, %v", calls, err)
		}
	}
}
