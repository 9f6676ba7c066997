package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/advice"
)

// plan computes the changes.
func (r *Result) plan(ctx context.Context, o *Options) error {
	foreign, err := o.foreign(ctx)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for i := range o.Report.Findings {
		f := &o.Report.Findings[i]
		runs := int64(max(o.Report.Runs, 1))
		try := Try{Findings: []int{i}, Estimate: f.NS / runs, Bytes: f.Bytes / runs}
		file, c, err := changed(f, files, foreign)
		if err != nil {
			try.Reason = err.Error()
			r.Tries = append(r.Tries, try)
			continue
		}
		// Two call stacks may end at one line. The larger capacity serves both.
		if t := r.at(file, c); t != nil {
			if f.Fix.N > o.Report.Findings[t.Findings[0]].Fix.N {
				t.changes[file][0] = c
				t.Findings = append([]int{i}, t.Findings...)
			} else {
				t.Findings = append(t.Findings, i)
			}
			t.Estimate, t.Bytes = t.Estimate+try.Estimate, t.Bytes+try.Bytes
			continue
		}
		try.changes = map[string][]change{file: {c}}
		r.Tries = append(r.Tries, try)
	}
	all := Try{changes: map[string][]change{}}
	for i := range r.Tries {
		t := &r.Tries[i]
		for file, list := range t.changes {
			t.Changes = append(t.Changes, shown(file, files[file], list[0]))
			all.changes[file] = append(all.changes[file], list...)
			all.Changes = append(all.Changes, t.Changes...)
			all.Findings, all.Estimate, all.Bytes = append(all.Findings, t.Findings...), all.Estimate+t.Estimate, all.Bytes+t.Bytes
		}
	}
	for _, list := range all.changes {
		slices.SortFunc(list, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	}
	if len(all.Changes) > 1 {
		r.All = &all
	}
	return nil
}

// foreign returns the directories whose files can't be in an overlay, or that users don't
// change.
func (o *Options) foreign(ctx context.Context) (list []string, err error) {
	out, err := o.goes(ctx, "env", "GOROOT", "GOMODCACHE")
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line+string(filepath.Separator))
		}
	}
	return list, err
}

// changed returns the change of a finding's fix, and its file.
func changed(f *advice.Finding, files map[string][]byte, foreign []string) (file string, c change, err error) {
	if f.Fix.What == "" {
		_, err := changeOf(nil, Place{}, f.Fix)
		return "", c, err
	}
	p, err := placeOf(f)
	if err != nil {
		return "", c, err
	}
	if !filepath.IsAbs(p.File) {
		return "", c, fmt.Errorf("%s is not a file's path: the program was built with -trimpath", p.File)
	}
	for _, dir := range foreign {
		if strings.HasPrefix(p.File, dir) {
			return "", c, fmt.Errorf("%s belongs to a library, in %s, where no file may be changed for a build", filepath.Base(p.File), strings.TrimSuffix(dir, string(filepath.Separator)))
		}
	}
	if files[p.File] == nil {
		if files[p.File], err = os.ReadFile(p.File); err != nil {
			return "", c, fmt.Errorf("reading the source: %w", err)
		}
	}
	c, err = changeOf(files[p.File], p, f.Fix)
	return p.File, c, err
}

// at returns the try that changes the same text.
func (r *Result) at(file string, c change) *Try {
	for i := range r.Tries {
		if list := r.Tries[i].changes[file]; len(list) > 0 && list[0].from == c.from {
			return &r.Tries[i]
		}
	}
	return nil
}

// shown returns the changed line.
func shown(file string, src []byte, c change) string {
	after := done(src, []change{c})
	from := bytes.LastIndexByte(after[:c.from], '\n') + 1
	line, _, _ := bytes.Cut(after[from:], []byte("\n"))
	return fmt.Sprintf("%s:%d: %s", file, 1+bytes.Count(src[:c.from], []byte("\n")), bytes.TrimSpace(line))
}
