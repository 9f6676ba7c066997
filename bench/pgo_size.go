package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// pgoSizeRows measures the tool with large inputs: a gigabyte of profiles merged, and a
// profile checked against a module of half a million lines.
func pgoSizeRows(b *bench) []row {
	const merge, check = "a gigabyte of pprof files merged", "a profile checked against 500,000 lines"
	tool := filepath.Join(b.dir, "tool")
	root, err := moduleRoot()
	if err == nil {
		err = runIn(root, "go", "build", "-o", tool, "./cmd/scopeview")
	}
	if err != nil {
		return []row{broken(merge, err)}
	}
	size, lines := int64(1e9), 500_000
	if b.short {
		size, lines = 5e7, 50_000
	}
	rows, err := b.mergeRows(merge, tool, size)
	if err != nil {
		rows = append(rows, broken(merge, err))
	}
	r, err := b.checkRow(check, tool, lines)
	if err != nil {
		r = broken(check, err)
	}
	return append(rows, r)
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/scopeview/scopeview").Output()
	if err != nil {
		return "", fmt.Errorf("the tool's module can't be found: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func runIn(dir string, args ...string) error {
	c := exec.Command(args[0], args[1:]...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// mergeRows merges profiles of size bytes in total, compressed as programs write them.
func (b *bench) mergeRows(name, tool string, size int64) ([]row, error) {
	dir := filepath.Join(b.dir, "profiles")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var files [][]byte
	for seed := range uint64(10) {
		var w bytes.Buffer
		if err := manySamples(seed).Write(&w); err != nil {
			return nil, err
		}
		files = append(files, w.Bytes())
	}
	n := 0
	for sum := int64(0); sum < size; n++ {
		data := files[n%len(files)]
		sum += int64(len(data))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.pprof", n)), data, 0o600); err != nil {
			return nil, err
		}
	}
	c := exec.Command(tool, "pgo", "merge", dir, "-o", filepath.Join(b.dir, "merged.pgo"))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	begin, ended, memory := time.Now(), make(chan struct{}), make(chan int64, 1)
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() { memory <- peakMemory(c.Process, ended) }()
	err := c.Wait()
	took := time.Since(begin).Seconds()
	close(ended)
	peak := <-memory
	if err != nil || !bytes.Contains(out.Bytes(), fmt.Appendf(nil, "of %d profiles", n)) {
		return nil, fmt.Errorf("%v: %w: %s", c.Args, err, &out)
	}
	seconds, mib := quantity{took, "s"}, quantity{float64(peak) / (1 << 20), "MiB"}
	note := fmt.Sprintf("%d files of %.1f MB, of the samples of 10 runs", n, float64(len(files[0]))/1e6)
	rows := []row{{name: name, value: seconds, judge: seconds, goal: 45, must: 60, note: note}}
	if peak > 0 {
		rows = append(rows, row{name: "the same, its memory", value: mib, judge: mib, goal: 400, must: 512})
	}
	return rows, nil
}

// manySamples returns a profile of a large program: 40,000 stacks of 30,000 places.
func manySamples(seed uint64) *profile.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	program := rand.New(rand.NewPCG(7, 1)) // all profiles are of the same
	cpu := &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	q := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, cpu}, PeriodType: cpu, Period: 1e7, DurationNanos: 30e9}
	for i := range 8000 {
		q.Function = append(q.Function, &profile.Function{
			ID: uint64(i + 1), Name: fmt.Sprintf("example.com/module/pkg%d.(*Type%d).Method%d", i%100, i%500, i), Filename: fmt.Sprintf("/src/pkg%d/file%d.go", i%100, i%900), StartLine: int64(i%300 + 1),
		})
	}
	for i := range 30_000 {
		l := &profile.Location{ID: uint64(i + 1), Address: uint64(0x400000 + 13*i)}
		for range 1 + program.IntN(3)/2 {
			l.Line = append(l.Line, profile.Line{Function: q.Function[program.IntN(len(q.Function))], Line: int64(program.IntN(1000))})
		}
		q.Location = append(q.Location, l)
	}
	for range 40_000 {
		s := &profile.Sample{Value: []int64{int64(1 + r.IntN(9)), 1e7}}
		for at, depth := r.IntN(len(q.Location)), 10+r.IntN(40); depth > 0; depth-- {
			s.Location = append(s.Location, q.Location[at%len(q.Location)])
			at += 1 + r.IntN(20)*r.IntN(20)
		}
		q.Sample = append(q.Sample, s)
	}
	return q
}

// checkRow checks a profile against a module with that many lines, in packages of 5,000,
// with a function of each in the profile.
func (b *bench) checkRow(name, tool string, lines int) (r row, err error) {
	dir := filepath.Join(b.dir, "module")
	q := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 1}
	function := func(name string, start int64) *profile.Location {
		f := &profile.Function{ID: uint64(len(q.Function) + 1), Name: name, StartLine: start}
		q.Function = append(q.Function, f)
		l := &profile.Location{ID: f.ID, Address: f.ID, Line: []profile.Line{{Function: f, Line: start + 3}}}
		q.Location = append(q.Location, l)
		return l
	}
	const each, inPackage = 10, 500
	for p := range lines / (each * inPackage) {
		var s strings.Builder
		fmt.Fprintf(&s, "package p%d\n", p)
		for f := range inPackage {
			fmt.Fprintf(&s, "\nfunc F%d(n int) (s int) {\n\tfor i := range n {\n\t\tif i%%3 == 1 {\n\t\t\ts += F%d(i - 1)\n\t\t}\n\t}\n\treturn s + n\n}\n", f, (f+1)%inPackage)
		}
		at := filepath.Join(dir, fmt.Sprintf("p%d", p))
		if err := os.MkdirAll(at, 0o755); err != nil {
			return r, err
		}
		if err := os.WriteFile(filepath.Join(at, "p.go"), []byte(s.String()), 0o600); err != nil {
			return r, err
		}
		caller, callee := function(fmt.Sprintf("example.com/m/p%d.F0", p), 3), function(fmt.Sprintf("example.com/m/p%d.F1", p), 13)
		q.Sample = append(q.Sample, &profile.Sample{Value: []int64{1}, Location: []*profile.Location{callee, caller}})
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.24\n"), 0o600); err != nil {
		return r, err
	}
	path := filepath.Join(b.dir, "check.pprof")
	var w bytes.Buffer
	if err := q.Write(&w); err != nil {
		return r, err
	}
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		return r, err
	}
	begin := time.Now()
	if err := runIn(dir, tool, "pgo", "check", path, "--fail-below", "100%"); err != nil {
		return r, err
	}
	seconds := quantity{time.Since(begin).Seconds(), "s"}
	return row{name: name, value: seconds, judge: seconds, goal: 6, must: 10, note: "all calls of the profile are found, in each of its packages"}, nil
}
