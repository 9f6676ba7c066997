package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// child is what the harness, built with other tags, prints about itself.
type child struct {
	Floor, Empty, Task, Ints float64 // ns
	Mallocs                  float64
	Recorded, Lost, Asked    int64
	Path                     format.Path // from the trace's header; 0: nothing is recorded
	Recorder                 string
}

// builtRows measures builds that record by a slower path, or not at all.
func builtRows(b *bench) []row {
	const goPath, purePath, off = "Task by the Go path", "Task by the pure path", "built with -tags scope_off"
	var rows []row
	if c, err := b.runChild("scope_go", format.PathGo); err != nil {
		rows = append(rows, broken(goPath, err))
	} else {
		r := ratio(goPath, c.Task, c.Floor, 1.35, 1.8)
		r.fault = tally{recorded: c.Recorded, lost: c.Lost}.kept(c.Asked)
		rows = append(rows, r, allocRow(goPath+", allocations", c.Mallocs, ""))
	}
	if c, err := b.runChild("scope_pure", format.PathPure); err != nil {
		rows = append(rows, broken(purePath, err))
	} else {
		r := ratio(purePath, c.Task, c.Floor, 0, 0)
		r.fault = tally{recorded: c.Recorded, lost: c.Lost}.kept(c.Asked)
		rows = append(rows, r)
	}
	if c, err := b.runChild("scope_off", 0); err != nil {
		rows = append(rows, broken(off, err))
	} else {
		rows = append(rows,
			over(off, c.Task, c.Empty, 0.3, 1), over(off+", two int arguments", c.Ints, c.Empty, 0.3, 1),
			allocRow(off+", allocations", c.Mallocs, ""))
	}
	return rows
}

// runChild builds the harness with a tag and lets it measure itself. The trace's
// header must say that it took the wanted path: otherwise the row would be
// another's.
func (b *bench) runChild(tag string, want format.Path) (child, error) {
	var c child
	bin := filepath.Join(b.dir, "bench-"+tag)
	if out, err := exec.Command("go", "build", "-tags", tag, "-o", bin, "github.com/scopeview/scopeview/bench").CombinedOutput(); err != nil {
		return c, fmt.Errorf("the harness can't be built with -tags %s: %w: %s", tag, err, out)
	}
	args := []string{"-child", "-dir", b.dir}
	if b.short {
		args = append(args, "-short")
	}
	cmd := exec.Command(bin, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return c, fmt.Errorf("the harness built with -tags %s failed: %w", tag, err)
	}
	if err := json.Unmarshal(out, &c); err != nil {
		return c, fmt.Errorf("the harness built with -tags %s printed no result: %w", tag, err)
	}
	if c.Path != want {
		return c, fmt.Errorf("built with -tags %s the recorder took path %v, not %v: %s", tag, c.Path, want, c.Recorder)
	}
	return c, nil
}

// printChild is what a build measures of itself.
func (b *bench) printChild(w io.Writer) error {
	var c child
	var p plan
	loops := []loop{timed(floor.Loop), timed(floor.Empty), timed(tasks), timed(tasksInts)}
	t, err := b.recording(job{
		warm: func() {
			p = childPlan()
			b.warm(p, loops...)
		},
		run: func() {
			ns := b.medians(p, loops...)
			c.Floor, c.Empty, c.Task, c.Ints = ns[0], ns[1], ns[2], ns[3]
			c.Mallocs = mallocs(tasks)
		},
		read: func(t tally) (err error) {
			c.Path, err = pathOf(t.path)
			return err
		},
	})
	if err != nil {
		return err
	}
	c.Recorded, c.Lost, c.Recorder = t.recorded, t.lost, t.recorder
	c.Asked = 2*b.iterations(p) + mallocLoop
	return json.NewEncoder(w).Encode(c)
}

// pathOf reads from a trace how it was recorded; 0 if there is none, because
// this build records nothing.
func pathOf(file string) (format.Path, error) {
	t, err := trace.OpenFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer t.Close()
	return t.Header().Path, nil
}

// childPlan is the plan for this build: the pure path takes microseconds, and
// what is built to record nothing next to nothing.
func childPlan() plan {
	const probe = 1000
	switch {
	case !scope.Enabled():
		return idlePlan
	case timed(tasks)(probe) > probe*time.Microsecond:
		return plan{slices: 10, size: 1000, settle: recordedPlan.settle}
	}
	return recordedPlan
}
