package build

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/newfile"
)

// Covering reports whether a command line requests coverage.
func (l *Line) Covering() bool {
	return l.True("cover") || l.Value("coverprofile") != "" || l.Value("covermode") != "" || l.Value("coverpkg") != ""
}

// Tool runs a tool for the go command (-toolexec), in builds with coverage. words are the
// plan's file, the number of words of the user's -toolexec, these words, and a tool with its
// arguments. It returns the tool's exit code.
func Tool(ctx context.Context, words []string) (int, error) {
	const how = "toolexec is for the go command: PLAN N WORD… TOOL ARGUMENT…"
	if len(words) < 3 {
		return 0, errors.New(how)
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 0 || len(words) < 3+n {
		return 0, errors.New(how)
	}
	plan, words, tool := words[0], words[2:2+n], words[2+n:]
	run := func(args []string) (int, error) {
		line := slices.Concat(words, tool[:1], args)
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		err := cmd.Run()
		if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() > 0 {
			return cmd.ProcessState.ExitCode(), nil
		}
		return 0, err
	}
	args := tool[1:]
	if name := strings.TrimSuffix(filepath.Base(tool[0]), ".exe"); name != "cover" {
		return run(args)
	}
	b, err := os.ReadFile(plan)
	if err != nil {
		return 0, err
	}
	p := new(Plan)
	if err := json.Unmarshal(b, p); err != nil {
		return 0, fmt.Errorf("%s: %w", plan, err)
	}
	if len(args) == 1 && args[0] == "-V=full" {
		// The output of cover depends on the plan.
		out, err := exec.CommandContext(ctx, tool[0], args...).Output()
		if err != nil {
			return 0, err
		}
		fmt.Printf("%s scopeview-%s\n", bytes.TrimSpace(out), hash(b))
		return 0, nil
	}
	c, err := p.cover(args)
	if err != nil || c == nil {
		if err == nil {
			return run(args)
		}
		return 0, err
	}
	if code, err := run(c.args); code != 0 || err != nil {
		return code, err
	}
	return 0, c.edit()
}

// covering is a call of go tool cover.
type covering struct {
	args []string
	in   []string // input files
	out  []string // output files
	of   *editing // nil: the package is not traced
}

// cover parses the arguments of go tool cover; it returns nil for another call. It copies
// files that exist only in the overlay, and leaves them out.
func (p *Plan) cover(args []string) (*covering, error) {
	if len(args) == 1 && strings.HasPrefix(args[0], "@") {
		b, err := os.ReadFile(args[0][1:])
		if err != nil {
			return nil, err
		}
		args = strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		for i := range args {
			args[i] = strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(args[i])
		}
	}
	at := slices.Index(args, "-outfilelist")
	if at < 0 || at+2 > len(args) {
		return nil, nil
	}
	list := args[at+1]
	b, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	outs := strings.Fields(string(b))
	first := len(args) - (len(outs) - 1) // the first is cover's own
	if first <= at+1 || len(outs) == 0 {
		return nil, fmt.Errorf("unknown call of go tool cover: %s", strings.Join(args, " "))
	}
	o, err := p.overlaid()
	if err != nil {
		return nil, err
	}
	c := &covering{args: slices.Clone(args[:first])}
	kept := outs[:1:1]
	for i, in := range args[first:] {
		if _, err := os.Stat(in); missing(err) && o[in] != "" {
			b, err := os.ReadFile(o[in])
			if err != nil {
				return nil, err
			}
			if err := newfile.Replace(outs[i+1], b); err != nil {
				return nil, err
			}
			continue
		}
		for j := range p.Covered {
			if x := &p.Covered[j]; x.Dir == filepath.Dir(in) {
				c.of = x
			}
		}
		c.in, c.out = append(c.in, in), append(c.out, outs[i+1])
		kept, c.args = append(kept, outs[i+1]), append(c.args, in)
	}
	return c, newfile.Replace(list, []byte(strings.Join(kept, "\n")+"\n"))
}

// edit makes the output of cover record scopes.
func (c *covering) edit() error {
	if c.of == nil {
		return nil
	}
	in, err := c.of.input()
	if err != nil {
		return err
	}
	in.Covered = map[string][]byte{}
	outs := map[string]string{}
	for i, path := range c.in {
		name := filepath.Base(path)
		if _, ok := in.Files[name]; !ok {
			continue
		}
		b, err := os.ReadFile(c.out[i])
		if err != nil {
			return err
		}
		in.Covered[name], outs[name] = b, c.out[i]
	}
	out, err := instrument.Package(in)
	if err != nil {
		return err
	}
	for name, b := range out.Files {
		if outs[name] == "" {
			continue
		}
		if err := newfile.Replace(outs[name], b); err != nil {
			return err
		}
	}
	return nil
}

// overlaid returns the plan's overlay.
func (p *Plan) overlaid() (overlay, error) {
	b, err := os.ReadFile(p.Overlay)
	if err != nil {
		return nil, err
	}
	var x struct{ Replace overlay }
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Overlay, err)
	}
	return x.Replace, nil
}
