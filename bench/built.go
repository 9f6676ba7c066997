package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/format"
)

const notAligned = "; they lie where each may be a cycle off, see package hot"

// builtRows measures builds that record by a slower path, or not at all.
func builtRows(b *bench) []row {
	const goPath, purePath, off = "Task by the Go path", "Task by the pure path", "built with -tags scope_off"
	var rows []row
	if c, err := b.runChild("scope_go", format.PathGo); err != nil {
		rows = append(rows, broken(goPath, err))
	} else {
		r := ratio(goPath, c.Task, c.ToFloor, 1.35, 1.8)
		r.fault = tally{recorded: c.Recorded, lost: c.Lost}.kept(c.Asked)
		r.note = quietNote(c.Quiet)
		rows = append(rows, r, allocRow(goPath+", allocations", c.Mallocs, ""))
	}
	if c, err := b.runChild("scope_pure", format.PathPure); err != nil {
		rows = append(rows, broken(purePath, err))
	} else {
		r := ratio(purePath, c.Task, c.ToFloor, 0, 0)
		r.fault = tally{recorded: c.Recorded, lost: c.Lost}.kept(c.Asked)
		rows = append(rows, r)
	}
	if c, err := b.runChild("scope_off", 0); err != nil {
		rows = append(rows, broken(off, err))
	} else {
		task, ints := over(off, c.Task, c.Empty, c.OverTask, 0.3, 1), over(off+", two int arguments", c.Ints, c.Empty, c.OverInts, 0.3, 1)
		if !c.Aligned {
			task.note += notAligned
			ints.note += notAligned
		}
		rows = append(rows, task, ints, allocRow(off+", allocations", c.Mallocs, ""))
	}
	return rows
}

// runChild builds the harness with a tag and runs it. The trace's header must show the
// wanted path.
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
