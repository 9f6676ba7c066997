package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// launcher runs commands that build and run a program, in a cache of its own.
type launcher struct {
	tool string   // scopeview
	root string   // the directory of its module
	dir  string   // where commands are run
	env  []string // beyond the environment
}

// launcher builds the tool, with the cache of generated files below the traces.
func (b *bench) launcher() (*launcher, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	l := &launcher{tool: filepath.Join(b.dir, "scopeview"), root: root, dir: root, env: []string{"SCOPEVIEW_CACHE=" + filepath.Join(b.dir, "cache")}}
	_, err = l.spent("go", "build", "-o", l.tool, "./cmd/scopeview")
	return l, err
}

// usage has the times of a command, including its children.
type usage struct{ cpu, wall time.Duration }

func (l *launcher) spent(args ...string) (u usage, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = l.dir, append(os.Environ(), l.env...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return u, fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return usage{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(began)}, nil
}

// turns is a pair of alternating commands, plain and ours.
type turns struct {
	name        string
	plain, ours []string
	times       int
	before      func() error // each; it does not count
	goal, must  float64      // for the ratio of ours to plain; 0: no limit
}

// row runs them. CPU time is judged: other programs on the machine affect it less than wall
// time.
func (l *launcher) row(t turns) row {
	var ratios, walls []float64
	var took [2][]float64
	for i := range t.times {
		var u [2]usage
		for k := range u {
			which := (i + k) % 2
			if t.before != nil {
				if err := t.before(); err != nil {
					return broken(t.name, err)
				}
			}
			var err error
			if u[which], err = l.spent([][]string{t.plain, t.ours}[which]...); err != nil {
				return broken(t.name, err)
			}
			took[which] = append(took[which], u[which].cpu.Seconds())
		}
		ratios = append(ratios, float64(u[1].cpu)/float64(u[0].cpu))
		walls = append(walls, float64(u[1].wall)/float64(u[0].wall))
	}
	r := row{name: t.name, value: quantity{median(ratios), "×"}}
	r.note = fmt.Sprintf("CPU time: %.2f s, without us %.2f s; by the clock %.2f×", median(took[1]), median(took[0]), median(walls))
	if t.must > 0 {
		r.judge, r.goal, r.must = r.value, t.goal, t.must
	}
	return r
}

// launchRows measures building and running a program with recording. The program is the tool
// itself.
func launchRows(b *bench) []row {
	const again = "a build, nothing changed"
	l, err := b.launcher()
	if err != nil {
		return []row{broken(again, err)}
	}
	build := turns{
		plain: []string{"go", "build", "-o", filepath.Join(b.dir, "plain"), "./cmd/scopeview"},
		ours:  []string{l.tool, "build", "-o", filepath.Join(b.dir, "ours"), "./cmd/scopeview"},
	}
	for _, command := range [][]string{build.plain, build.ours} {
		if _, err := l.spent(command...); err != nil {
			return []row{broken(again, err)}
		}
	}
	warm, changed, cold := build, build, build
	warm.name, warm.times, warm.goal, warm.must = again, 4*b.rounds, 1, 1.05
	// Changed files are compiled, and the compiler has more to do.
	changed.name, changed.times, changed.goal, changed.must = "  a file of package main changed", b.rounds, 1.3, 1.5
	cold.name, cold.times, cold.goal, cold.must = "  nothing built yet", max(b.rounds/2, 1), 1.2, 1.5
	return []row{l.row(warm), b.changedRow(*l, changed), b.coldRow(*l, cold), b.runRow(l), b.pictureRow(l)}
}

// changedRow changes a file of the main package before each build, in a copy of the module.
func (b *bench) changedRow(l launcher, t turns) row {
	l.dir = filepath.Join(b.dir, "copy")
	if err := copyModule(l.root, l.dir); err != nil {
		return broken(t.name, err)
	}
	defer os.RemoveAll(l.dir)
	for _, command := range [][]string{t.plain, t.ours} {
		if _, err := l.spent(command...); err != nil {
			return broken(t.name, err)
		}
	}
	lines := 0
	t.before = func() error {
		f, err := os.OpenFile(filepath.Join(l.dir, "cmd", "scopeview", "main.go"), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		lines++
		_, err = fmt.Fprintf(f, "\n// Line %d.\n", lines)
		return errors.Join(err, f.Close())
	}
	return l.row(t)
}

// copyModule copies a module without version control data.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == ".git" && d.IsDir():
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case d.Name() == ".git" || !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	})
}

// coldRow builds with empty caches, except for that of modules.
func (b *bench) coldRow(l launcher, t turns) row {
	caches := filepath.Join(b.dir, "cold")
	l.env = []string{"GOCACHE=" + filepath.Join(caches, "go"), "SCOPEVIEW_CACHE=" + filepath.Join(caches, "scopeview")}
	t.before = func() error { return os.RemoveAll(caches) }
	defer os.RemoveAll(caches)
	return l.row(t)
}

// runRow runs a program that does nothing, by go run and by scopeview run, which also reads
// the recording.
func (b *bench) runRow(l *launcher) row {
	const name = "a run, nothing changed"
	o, err := b.ordinary()
	if err != nil {
		return broken(name, err)
	}
	in := *l
	in.dir = o.dir
	for _, command := range [][]string{{"go", "run", ".", "nothing"}, {l.tool, "run", ".", "nothing"}} {
		if _, err := in.spent(command...); err != nil {
			return broken(name, err)
		}
	}
	return in.row(turns{name: name, times: 4 * b.rounds, plain: []string{"go", "run", ".", "nothing"}, ours: []string{l.tool, "run", ".", "nothing"}})
}

// pictureRow measures the time from the command to the page, minus that of the program
// itself.
func (b *bench) pictureRow(l *launcher) row {
	const name = "scopeview run of gostats, and its page, beyond the program"
	traces, plain, page := filepath.Join(b.dir, "runs"), filepath.Join(b.dir, "gostats"), filepath.Join(b.dir, "page.html")
	args := []string{"-limit-files", "600", "-repeat", "3"}
	run := append([]string{l.tool, "run", "-o", traces, "./examples/gostats"}, args...)
	for _, command := range [][]string{{"go", "build", "-o", plain, "./examples/gostats"}, run} {
		if _, err := l.spent(command...); err != nil {
			return broken(name, err)
		}
	}
	var beyond, alone []float64
	for range b.rounds {
		u, err := l.spent(append([]string{plain}, args...)...)
		if err != nil {
			return broken(name, err)
		}
		if err := os.RemoveAll(traces); err != nil {
			return broken(name, err)
		}
		ours, err := l.spent(run...)
		if err != nil {
			return broken(name, err)
		}
		written, err := l.spent(l.tool, "html", traces, "-o", page)
		if err != nil {
			return broken(name, err)
		}
		alone = append(alone, u.wall.Seconds())
		beyond = append(beyond, (ours.wall + written.wall - u.wall).Seconds())
	}
	ms := quantity{1e3 * median(beyond), "ms"}
	return row{name: name, value: ms, judge: ms, goal: 2000, must: 5000, note: fmt.Sprintf("by the clock; the program takes %.1f s", median(alone))}
}
