package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/pgo"
	reportpgo "github.com/scopeview/scopeview/internal/report/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// parseShare parses a share in percent.
func parseShare(flag, text string) (float64, error) {
	share, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(share >= 0 && share <= 100) {
		return 0, usagef("--%s %s: write a share, such as 99%%", flag, text)
	}
	return share, nil
}

func newPgoShow(c *call) func() error {
	in := profileInputOf(c)
	hot := c.flags().String("hot", fmt.Sprint(pgo.HotShare, "%"), "take as hot the heaviest calls up to this `SHARE` of the weight, as the compiler's -d=pgoinlinecdfthreshold does")
	return func() error {
		share, err := parseShare("hot", *hot)
		if err != nil {
			return err
		}
		x, e, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		return c.showReport(reportpgo.Show(x.samples, e, share))
	}
}

func newPgoOverlap(c *call) func() error {
	in := profileInputOf(c)
	least := c.flags().String("fail-below", "0%", "exit with code 4 below this `SHARE`")
	return func() error {
		share, err := parseShare("fail-below", *least)
		if err != nil {
			return err
		}
		_, a, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		_, b, err := in.edges(c.context(), c.args[1])
		if err != nil {
			return err
		}
		if err := c.showReport(reportpgo.Overlap(c.args[0], c.args[1], a, b)); err != nil {
			return err
		}
		return checkShare(100*pgo.Overlap(a, b), share, "overlap")
	}
}

// checkShare returns exitFound if a share is below least.
func checkShare(share, least float64, what string) error {
	if share >= least {
		return nil
	}
	return &exit{exitFound, fmt.Errorf("%s %.2f%% is below %g%%", what, share, least)}
}

func newPgoShrink(c *call) func() error {
	in := profileInputOf(c)
	build := c.flags().String("build", "", "also build `PACKAGE` with each profile, and report the times")
	return func() error {
		x, e, err := in.edges(c.context(), c.args[0])
		if err != nil {
			return err
		}
		small := pgo.Shrink(x.samples, e)
		if small == nil {
			return fmt.Errorf("%s: the compiler refuses this profile: nothing to shrink", show.Name(c.args[0]))
		}
		if err := checkShrunk(c.context(), c.s, c.args[0], x.samples, small, *build); err != nil {
			return err
		}
		return c.writeProfile(small)
	}
}

// checkShrunk checks that the compiler's own reader reads the same from a profile and its small form. A
// profile in another format is compared in the form that pgo collect writes.
func checkShrunk(ctx context.Context, s *streams, arg string, large, small *pgo.Profile, build string) error {
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return fmt.Errorf("making a directory for the proof: %w", err)
	}
	defer os.RemoveAll(dir)
	before := arg
	if f, kind, err := sniff(arg); err != nil {
		return err
	} else if f == nil || kind != kindPprof {
		before = filepath.Join(dir, "before.pgo")
		if err := writeProfileTo(before, large); err != nil {
			return err
		}
	} else {
		f.Close()
	}
	after := filepath.Join(dir, "after.pgo")
	if err := writeProfileTo(after, small); err != nil {
		return err
	}
	var sizes [2]int64
	var read [2][]byte
	var times, builds [2]time.Duration
	for i, path := range []string{before, after} {
		st, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf("looking at a profile: %w", err)
		}
		sizes[i] = st.Size()
		if read[i], times[i], err = goTool(ctx, "tool", "preprofile", "-i", path); err != nil {
			return err
		}
	}
	if !bytes.Equal(read[0], read[1]) {
		return fmt.Errorf("%s: go tool preprofile reads the small profile differently, so it was not written; this is a bug in scopeview", show.Name(arg))
	}
	fmt.Fprintf(s.err, "scopeview: %s → %s; go tool preprofile reads the same %s from both, in %s → %s\n", show.Size(sizes[0]), show.Size(sizes[1]),
		show.Size(int64(len(read[0]))), show.Duration(int64(times[0])), show.Duration(int64(times[1])))
	if build == "" {
		return nil
	}
	for i, path := range []string{before, after} {
		if path, err = filepath.Abs(path); err != nil {
			return err
		}
		if _, builds[i], err = goTool(ctx, "build", "-a", "-o", filepath.Join(dir, "x"), "-pgo="+path, build); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.err, "scopeview: go build -a %s takes %s → %s\n", show.Name(build), show.Duration(int64(builds[0])), show.Duration(int64(builds[1])))
	return nil
}

// writeProfileTo writes a profile to the file path.
func writeProfileTo(path string, p *pgo.Profile) error {
	to := &call{out: output{path}}
	return to.writeProfile(p)
}

// goTool runs the go command, and returns its output and its duration.
func goTool(ctx context.Context, args ...string) ([]byte, time.Duration, error) {
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "go", args...)
	out, err := cmd.Output()
	if err != nil {
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		var failed *exec.ExitError
		said := ""
		if errors.As(err, &failed) {
			said = ": " + show.Text(strings.TrimSpace(string(failed.Stderr)))
		}
		return nil, 0, fmt.Errorf("go %s: %w%s", strings.Join(args, " "), err, said)
	}
	return out, time.Since(begin), nil
}
