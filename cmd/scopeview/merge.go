package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/merge"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

func newMerge(c *call) func() error {
	return func() error {
		if c.out.standard() {
			return usagef("merge can't write to standard output: give -o FILE")
		}
		inputs, done, err := mergeInputs(c.context(), c.args, &c.out)
		defer done()
		if err != nil {
			return err
		}
		p := c.s.bytesDone()
		var r merge.Report
		err = c.out.write(c.s, func(w io.Writer) (err error) {
			file, ok := w.(*os.File)
			if !ok {
				return fmt.Errorf("a merged trace is written to a file")
			}
			r, err = merge.To(c.context(), inputs, file, p.share)
			return err
		})
		p.done()
		if err != nil {
			return err
		}
		return printMerged(c.s, &c.out, &r)
	}
}

// printMerged prints a summary of the merge, with its limitations.
func printMerged(s *streams, out *output, r *merge.Report) error {
	for _, x := range r.Same {
		fmt.Fprintf(s.err, "scopeview: %s is of the same run as %s, which is at least as long: left out\n", show.Name(x[0]), show.Name(x[1]))
	}
	if r.OtherNames > 0 {
		fmt.Fprintf(s.err, "scopeview: %s have the name (other names): one trace has no room for all names\n", show.Plural(r.OtherNames, "record"))
	}
	for _, line := range clockLines(r.Processes) {
		fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(line))
	}
	pairs := ""
	if r.Pairs > 0 {
		pairs = ", " + show.Plural(r.Pairs, "pair") + " of scopes to align clocks by"
	}
	_, err := fmt.Fprintf(s.out, "%s: %d processes, %s%s, %s\n", show.Name(out.path), len(r.Processes), show.Plural(r.Records, "record"), pairs, show.Size(r.Size))
	return err
}

// clockLines describes the processes whose clocks are not sufficiently known, one line for all with
// the same problem.
func clockLines(members []format.Member) (lines []string) {
	var alike []string
	whose := map[string][]string{}
	for _, m := range members {
		if line := analysis.ClockLine(&m); line != "" {
			if whose[line] == nil {
				alike = append(alike, line)
			}
			whose[line] = append(whose[line], trace.MemberLabel(&m))
		}
	}
	for _, line := range alike {
		list := whose[line]
		if more := len(list) - 5; more > 0 {
			list = append(list[:5], fmt.Sprintf("%d more", more))
		}
		lines = append(lines, strings.Join(list, ", ")+": "+line)
	}
	return lines
}

// mergeInputs finds the traces that args name. For those that are being written it makes snapshots,
// which done removes.
func mergeInputs(ctx context.Context, args []string, out *output) (inputs []merge.Input, done func(), err error) {
	var copies []string
	done = func() {
		for _, path := range copies {
			os.Remove(path)
		}
	}
	for _, arg := range args {
		paths, err := tracesOf(arg)
		if err != nil {
			return nil, done, err
		}
		for _, path := range paths {
			if err := out.notOver(path); err != nil {
				return nil, done, err
			}
			t, err := trace.OpenFileUntil(ctx, path)
			if err != nil {
				return nil, done, fmt.Errorf("%s: %w", show.Name(path), err)
			}
			state := stateOf(t, path)
			t.Close()
			in := merge.Input{Path: path, Name: show.Name(path)}
			if state == analysis.StateWriting || state == analysis.StateUnknown {
				in.Path = out.path + "." + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
				copies = append(copies, in.Path)
				if _, err := takeSnapshot(ctx, path, in.Path); err != nil {
					return nil, done, err
				}
			}
			inputs = append(inputs, in)
		}
	}
	return inputs, done, nil
}

// tracesOf lists the traces that TRACE names: all of a directory.
func tracesOf(arg string) (paths []string, err error) {
	if st, err := os.Stat(arg); err != nil || !st.IsDir() {
		path, err := findTrace(arg)
		return []string{path}, err
	}
	entries, err := os.ReadDir(arg)
	if err != nil {
		return nil, fmt.Errorf("looking for traces: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if ext := filepath.Ext(name); (ext == extension || ext == packedExtension) && e.Type().IsRegular() && !strings.HasPrefix(name, ".") {
			paths = append(paths, filepath.Join(arg, name))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no *%s file is in this directory", show.Name(arg), extension)
	}
	return paths, nil
}
