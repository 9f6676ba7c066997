package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options say what to run.
type Options struct {
	Procs   []int    // values of GOMAXPROCS, different ones
	Runs    int      // how often each
	Command []string // {p} in an argument becomes GOMAXPROCS, {trace} a directory for a trace
	// Names reads what a run has recorded into dir; nil: nothing is to be recorded.
	Names  func(dir string) (map[string]Name, error)
	Memory bool // also measure the machine's memory
	// Progress, if there is one, is called before each run.
	Progress func(run, of, procs int)
}

// Name is what is known of a name's scopes in one run.
type Name struct {
	Count int64 // ended scopes
	Known int64 // of those: with a known CPU time
	CPU   int64 // ns, the sum of the known ones
}

// run is one run of the command. Times are ns.
type run struct {
	Procs        int
	Wall         int64
	User, System int64
	Names        map[string]Name // nil: it recorded nothing
}

// measure runs the command Runs times with each of Procs. The runs of different Procs
// alternate, forwards and then backwards, so that a machine that becomes slower or
// warmer does so for all of them.
func measure(ctx context.Context, o Options) ([]run, error) {
	var runs []run
	order := slices.Clone(o.Procs)
	for range o.Runs {
		for _, p := range order {
			if o.Progress != nil {
				o.Progress(len(runs)+1, o.Runs*len(o.Procs), p)
			}
			r, err := once(ctx, &o, p)
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
		slices.Reverse(order)
	}
	return runs, nil
}

func once(ctx context.Context, o *Options, procs int) (r run, err error) {
	dir, err := os.MkdirTemp("", "scopeview-scale-")
	if err != nil {
		return r, fmt.Errorf("a directory for the traces can't be made: %w", err)
	}
	defer os.RemoveAll(dir)
	p := strconv.Itoa(procs)
	fill := strings.NewReplacer("{p}", p, "{trace}", dir+string(filepath.Separator))
	args := make([]string, len(o.Command))
	for i, a := range o.Command {
		args[i] = fill.Replace(a)
	}
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "GOMAXPROCS="+p)
	if o.Names != nil {
		c.Env = append(c.Env, "SCOPEVIEW="+dir+string(filepath.Separator))
	}
	tail := &tail{}
	c.Stderr = tail
	c.WaitDelay = time.Second // what it has started may hold its standard error open
	begin := time.Now()
	err = c.Run()
	r = run{Procs: procs, Wall: int64(time.Since(begin))}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return r, fmt.Errorf("%s with GOMAXPROCS=%d: %w%s", strings.Join(args, " "), procs, err, tail)
	}
	r.User, r.System = int64(c.ProcessState.UserTime()), int64(c.ProcessState.SystemTime())
	if o.Names != nil {
		if r.Names, err = o.Names(dir); err != nil {
			return r, fmt.Errorf("what %s with GOMAXPROCS=%d recorded: %w", args[0], procs, err)
		}
	}
	return r, nil
}

// tail keeps the last of what a command says, to be told if it fails.
type tail struct{ b []byte }

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > 2*tailSize {
		t.b = append(t.b[:0], t.b[len(t.b)-tailSize:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	b := bytes.TrimSpace(t.b)
	if len(b) == 0 {
		return ""
	}
	return "; it said:\n" + string(b[max(0, len(b)-tailSize):])
}
