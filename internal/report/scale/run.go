package scale

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/runs"
)

// Options select the command and the runs.
type Options struct {
	Procs   []int    // values of GOMAXPROCS, different ones
	Runs    int      // runs of each
	Command []string // {p} in an argument becomes GOMAXPROCS, {trace} a directory for a trace
	// Names reads the names that a run recorded into dir; nil: nothing is recorded.
	Names  func(dir string) (map[string]Name, error)
	Memory bool // also measure the machine's memory
	// Progress, if not nil, is called before each run.
	Progress func(run, of, procs int)
}

// Name sums up a name's scopes in one run.
type Name struct {
	Count int64 // ended scopes
	Known int64 // of those, with a known CPU time
	CPU   int64 // ns, the sum of the known ones
}

// run is one run of the command. Times are ns.
type run struct {
	Procs        int
	Wall         int64
	User, System int64
	Names        map[string]Name // nil: it recorded nothing
}

// measure runs the command Runs times with each of Procs. It goes through Procs forwards and then
// backwards, so that a machine that becomes slower or warmer does so for all of them.
func measure(ctx context.Context, o Options) ([]run, error) {
	var list []run
	order := slices.Clone(o.Procs)
	for range o.Runs {
		for _, p := range order {
			if o.Progress != nil {
				o.Progress(len(list)+1, o.Runs*len(o.Procs), p)
			}
			r, err := once(ctx, &o, p)
			if err != nil {
				return nil, err
			}
			list = append(list, r)
		}
		slices.Reverse(order)
	}
	return list, nil
}

func once(ctx context.Context, o *Options, procs int) (r run, err error) {
	dir, err := os.MkdirTemp("", "scopeview-scale-")
	if err != nil {
		return r, fmt.Errorf("creating a directory for the traces: %w", err)
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
	took, err := runs.Once(c)
	r = run{Procs: procs, Wall: took.Wall, User: took.User, System: took.System}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		return r, fmt.Errorf("%s with GOMAXPROCS=%d: %w", strings.Join(args, " "), procs, err)
	}
	if o.Names != nil {
		if r.Names, err = o.Names(dir); err != nil {
			return r, fmt.Errorf("the trace of %s with GOMAXPROCS=%d: %w", args[0], procs, err)
		}
	}
	return r, nil
}
