package verify

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/runs"
)

// Options are the parameters of Run.
type Options struct {
	Dir      string   // directory of go build, and of the program's runs; "": the working directory
	Package  string   // main package of the advice; "": that of Dir
	Flags    []string // of go build
	Args     []string // of the program
	Report   *advice.Report
	Runs     int               // of each build, at least 1; an interval of 95 % needs 4
	Budget   time.Duration     // after 4 runs none starts that would exceed it; 0: none
	Progress func(run, of int) // called before each run; may be nil
}

// Result has the results of the runs. Times are ns per run.
type Result struct {
	Package string   `json:"package"`
	Args    []string `json:"arguments" says:"of the program"`
	Runs    int      `json:"runs" unit:"count" says:"of each build; 0: nothing was run"`
	CPU     int64    `json:"cpu_ns" unit:"ns" says:"the median of the program as it is"`
	Wall    int64    `json:"wall_ns" unit:"ns" says:"the median of the program as it is"`
	Tries   []Try    `json:"tries"`
	All     *Try     `json:"all" says:"all changes at once; null: there are fewer than two"`
}

// Try is a change, or the reason for its absence.
type Try struct {
	Findings []int    `json:"findings" unit:"index" says:"the 'findings' that it follows"`
	Changes  []string `json:"changes" says:"file, line number and the changed line"`
	Reason   string   `json:"reason,omitempty" says:"why it was not tried"`
	Estimate int64    `json:"estimate_ns" unit:"ns" says:"that a run would save"`
	Bytes    int64    `json:"estimate_bytes" unit:"bytes" says:"of memory that a run would save, which is not measured"`
	CPU      *Saved   `json:"cpu,omitempty" says:"CPU time that it saves; absent: it was not tried"`
	Wall     *Saved   `json:"wall,omitempty" says:"wall time that it saves; absent: it was not tried"`
	// Output says whether the program prints the same with it.
	Output runs.Output `json:"output,omitempty" says:"'same'; 'differ': the change alters the program's output; 'varies': from run to run"`

	changes map[string][]change // by file
}

// Saved is the reduction of a program's time; negative if it takes more.
type Saved struct {
	NS         int64   `json:"ns" unit:"ns" says:"the median of all differences; negative: it takes more"`
	Low        int64   `json:"low_ns" unit:"ns"`
	High       int64   `json:"high_ns" unit:"ns"`
	Confidence float64 `json:"confidence" unit:"0 to 1" says:"of the interval from 'low_ns' to 'high_ns'"`
}

// least is the number of runs for an interval of 95 %.
const least = 4

// Run applies advice in separate builds, and measures them. It does not change the user's
// files. The program's standard input is empty, its output is compared and discarded, and it
// must succeed.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Runs < 1 {
		return nil, fmt.Errorf("%d runs are too few: give at least 1, and %d for an interval of 95%%", o.Runs, least)
	}
	for _, f := range o.Flags {
		if name := strings.TrimLeft(f, "-"); name == "overlay" || strings.HasPrefix(name, "overlay=") {
			return nil, errors.New("verify builds the changes with -overlay, which go build takes once: verify the advice without yours")
		}
	}
	dir, err := os.MkdirTemp("", "scopeview-verify-")
	if err != nil {
		return nil, fmt.Errorf("creating a directory for the builds: %w", err)
	}
	defer os.RemoveAll(dir)
	r := &Result{Package: cmp.Or(o.Package, "."), Args: append([]string{}, o.Args...)}
	if err := r.plan(ctx, &o); err != nil {
		return nil, err
	}
	if err := r.measure(ctx, &o, dir); err != nil {
		return nil, err
	}
	return r, nil
}

// measure builds and runs the tries.
func (r *Result) measure(ctx context.Context, o *Options, dir string) error {
	var tries, sides []*Try
	for i := range r.Tries {
		if r.Tries[i].Reason == "" {
			tries = append(tries, &r.Tries[i])
		}
	}
	if len(tries) == 0 {
		return nil
	}
	if r.All != nil {
		tries = append(tries, r.All)
	}
	plain, err := o.build(ctx, dir, 0, nil)
	if err != nil {
		return fmt.Errorf("building %s unchanged: %w", r.Package, err)
	}
	turns := runs.Turns{Args: o.Args, Dir: o.Dir, Rounds: o.Runs, Budget: o.Budget, Least: least, Progress: o.Progress, Sides: []*runs.Side{{Name: "as it is", Path: plain}}}
	for i, t := range tries {
		path, err := o.build(ctx, dir, i+1, t.changes)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.Reason = fmt.Sprintf("the build with the change fails: %s", err)
		case same(plain, path):
			t.Reason = "the change does not alter the program: the file is not in this package"
		default:
			sides = append(sides, t)
			turns.Sides = append(turns.Sides, &runs.Side{Name: "with " + strings.Join(t.Changes, ", "), Path: path})
		}
	}
	if len(sides) == 0 {
		return nil
	}
	if r.Runs, err = turns.Run(ctx); err != nil {
		return err
	}
	as := turns.Sides[0]
	r.CPU, r.Wall = runs.Median(as.CPU), runs.Median(as.Wall)
	for i, t := range sides {
		t.conclude(as, turns.Sides[i+1])
	}
	return nil
}

// build builds the program with changes, and returns the path of the executable.
func (o *Options) build(ctx context.Context, dir string, n int, changes map[string][]change) (string, error) {
	dir = filepath.Join(dir, fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(changes)) {
		src, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := newfile.Write(to, done(src, changes[file])); err != nil {
			return "", err
		}
		replace[file] = to
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name, path := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program.exe")
	if err := newfile.Write(name, overlay); err != nil {
		return "", err
	}
	_, err = o.goes(ctx, slices.Concat([]string{"build"}, o.Flags, []string{"-overlay=" + name, "-o", path, "--", cmp.Or(o.Package, ".")})...)
	return path, err
}

// goes runs the go command. Its error includes the command's messages.
func (o *Options) goes(ctx context.Context, args ...string) (string, error) {
	var out, errs bytes.Buffer
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = o.Dir, &out, &errs
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second // to remove its own files
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, bytes.TrimSpace(errs.Bytes()))
	}
	return out.String(), nil
}

// same reports whether two files have the same bytes.
func same(a, b string) bool {
	x, err := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// conclude computes the savings of a change.
func (t *Try) conclude(as, with *runs.Side) {
	t.CPU, t.Wall = saved(as.CPU, with.CPU), saved(as.Wall, with.Wall)
	t.Output = as.Compare(with)
}

func saved(as, with []int64) *Saved {
	a, b := floats(with), floats(as)
	low, high, confidence := runs.Intervals{}.Of(a, b)
	return &Saved{NS: int64(runs.Shift(a, b)), Low: int64(low), High: int64(high), Confidence: confidence}
}

func floats(list []int64) (of []float64) {
	for _, n := range list {
		of = append(of, float64(n))
	}
	return of
}
