package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// archiving holds the options of archive.
type archiving struct {
	*call
	binary  string
	sources string // which
	maps    []string
	to      string
}

// Values of --sources.
const (
	sampledSources = "samples"
	allSources     = "all"
	noSources      = "none"
)

func newArchive(c *call) func() error {
	a := &archiving{call: c}
	f := c.flags()
	f.StringVar(&a.binary, "binary", "", "read the executable that ran from `FILE`")
	sources := c.choice("sources", sampledSources, "store the sources of `WHICH` functions: those in the samples, all in the executable, or none", sampledSources, allSources, noSources)
	f.StringArrayVar(&a.maps, "path-map", nil, "replace the prefix OLD of source paths by NEW: `OLD=NEW`; may be repeated")
	f.StringVarP(&a.to, "output", "o", "", "write a copy to the new `FILE`, and leave TRACE unchanged")
	c.checks = append(c.checks, func() error {
		a.sources = *sources
		return nil
	})
	return func() error {
		if err := a.checkArgs(c.args); err != nil {
			return err
		}
		for _, arg := range c.args {
			if err := a.store(arg); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkArgs checks the flags and arguments before a trace is opened.
func (a *archiving) checkArgs(args []string) error {
	switch {
	case a.to == "-":
		return usagef("-o -: the trace is a file of its own; give its name")
	case a.to != "" && len(args) > 1:
		return usagef("-o %s is one file, for %d traces; archive them one by one", a.to, len(args))
	}
	for _, arg := range args {
		if a.to == "" && isAddress(arg) {
			return usagef("%s can't be changed; make a copy with -o FILE", arg)
		}
	}
	return nil
}

// store stores the executable and the sources with the trace that arg names.
func (a *archiving) store(arg string) error {
	src, _, err := sourceOf(a.context(), a.s, arg)
	if err != nil {
		return err
	}
	defer src.remove()
	if a.to == "" && len(src.got.dirs) > 0 {
		return usagef("%s can't be changed; make a copy with -o FILE", arg)
	}
	x := &annotated{profiling: &profiling{call: &call{s: a.s, cmd: a.cmd}}, binary: a.binary, maps: a.maps}
	if err := x.readAll(src.path); err != nil {
		return err
	}
	defer x.close()
	if x.t == nil {
		return fmt.Errorf("%s is a profile, not a recording: files can't be stored with it", show.Name(arg))
	}
	to := a.to
	if to == "" {
		if to, err = a.inPlace(x); err != nil {
			return err
		}
	}
	g, err := a.gather(x)
	if err != nil {
		return err
	}
	g.warn(a.s.err)
	list := g.list
	if len(list) == 0 && a.to == "" {
		_, err := fmt.Fprintf(a.s.out, "%s: all files that were found are stored already\n", show.Name(to))
		return err
	}
	stored, err := a.writeTo(a.context(), x, list, to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.s.out, "%s: %s stored in %s\n", show.Name(to), countFiles(list), show.Size(stored))
	return err
}

// countFiles describes the stored files.
func countFiles(list []*storing) string {
	what, sources, bytes := "", int64(0), int64(0)
	for _, f := range list {
		if f.part.Kind == format.FileExecutable {
			what = fmt.Sprintf("the executable (%s) and ", show.Size(f.part.Size))
			continue
		}
		sources++
		bytes += f.part.Size
	}
	return fmt.Sprintf("%s%s (%s)", what, show.Plural(sources, "source"), show.Size(bytes))
}

// inPlace returns the path of a trace that can be replaced.
func (a *archiving) inPlace(x *annotated) (string, error) {
	path, err := filepath.EvalSymlinks(x.path)
	if err != nil {
		return "", fmt.Errorf("looking for the trace: %w", err)
	}
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("looking for the trace: %w", err)
	}
	why := ""
	switch h := x.t.Header(); {
	case isPacked(path):
		why = "it is packed, and the result would not be"
	case !x.t.Closed():
		why = "it is not closed"
	case h.Segments > 0:
		why = "it lies in several files"
	case len(analysis.Damage(x.t.Problems())) > 0:
		why = "it is damaged, and replacing it would destroy the evidence"
	case ownedByOthers(st):
		why = "it belongs to another user, who could not read the new one"
	default:
		return path, nil
	}
	return "", fmt.Errorf("%s can't be replaced: %s; make a copy with -o FILE", show.Name(x.path), why)
}

// gathered holds the files to store.
type gathered struct {
	list    []*storing
	missing []string // sources that were not found
	later   []string // sources that are newer than the executable
	unsure  bool     // whether the executable is the one that ran can't be checked
}

// gather finds the files to store that are not stored yet.
func (a *archiving) gather(x *annotated) (*gathered, error) {
	program, has := false, map[string]bool{}
	for _, f := range x.t.Files() {
		if f.Kind == format.FileExecutable {
			program = program || !f.Missing
		} else if !f.Missing {
			has[f.Name] = true
		}
	}
	if program && a.binary != "" {
		return nil, fmt.Errorf("%s has its executable already; leave out --binary %s", show.Name(x.path), show.Name(a.binary))
	}
	c, err := x.code("")
	if err != nil {
		return nil, err
	}
	if c.Binary == nil {
		return nil, errors.New(c.Why)
	}
	g, path := &gathered{}, cmp.Or(c.Path(), x.p.Binary)
	if !program {
		f, err := openExecutable(path)
		if err != nil {
			return nil, err
		}
		g.list, g.unsure = append(g.list, f), x.p.BuildID == ""
	}
	c.Sources.Stored = nil // files that are stored completely are not gathered again
	names := slices.DeleteFunc(a.names(x, c), func(name string) bool { return has[name] })
	return g, g.sources(&c.Sources, names, path)
}

// sources adds the sources that are found for the program at a path.
func (g *gathered) sources(from *symbols.Sources, names []string, program string) error {
	built, noProgram := os.Stat(program)
	for _, name := range names {
		b, path, err := from.ReadAll(name)
		var none *symbols.NoSourceError
		if errors.As(err, &none) {
			g.missing = append(g.missing, name)
			continue
		}
		if err != nil {
			return err
		}
		g.list = append(g.list, storedSource(name, b))
		if st, err := os.Stat(path); err == nil && noProgram == nil && st.ModTime().After(built.ModTime()) {
			g.later = append(g.later, name)
		}
	}
	return nil
}

// warn prints warnings about the stored files.
func (g *gathered) warn(w io.Writer) {
	if g.unsure {
		fmt.Fprintln(w, "scopeview: can't check whether the executable is the one that ran: the samples have no build id")
	}
	for _, x := range []struct {
		names      []string
		text, hint string
	}{
		{g.missing, "not found, and not stored", "; give the directories with --path-map OLD=NEW"},
		{g.later, "changed after the executable was made, so lines may be others than those that ran", ""},
	} {
		if len(x.names) > 0 {
			fmt.Fprintf(w, "scopeview: %s %s: %s%s\n", show.Plural(int64(len(x.names)), "source"), x.text, show.Name(strings.Join(x.names, ", ")), x.hint)
		}
	}
}

// names lists the wanted sources, by the names that the compiler recorded.
func (a *archiving) names(x *annotated, c *annotate.Code) []string {
	names := map[string]bool{}
	if a.sources != noSources {
		for f := range x.p.Frames() {
			names[f.File] = true
		}
		packagesOfPlaces(x.t.Places(), &c.Sources, names)
	}
	if a.sources == allSources {
		for _, f := range c.Binary.Funcs() {
			names[f.File] = true
		}
	}
	list := slices.Sorted(maps.Keys(names))
	return slices.DeleteFunc(list, func(name string) bool {
		// <autogenerated>, [kernel], and _cgo_gotypes.go, which the go command has removed.
		return name == "" || strings.ContainsAny(name[:1], "<[?") || strings.HasPrefix(name, "_cgo_") || len(name) > format.MaxName
	})
}

// packagesOfPlaces adds the sources of the packages in which locks without a name are locked: they
// are needed to name those locks.
func packagesOfPlaces(places []trace.Place, from *symbols.Sources, names map[string]bool) {
	seen := map[string]bool{}
	for _, p := range places {
		names[p.File] = true
		dir := p.File[:strings.LastIndexAny(p.File, `/\`)+1]
		tests := strings.HasSuffix(p.File, "_test.go")
		if seen[dir] && !tests {
			continue
		}
		files, err := from.Package(p.File)
		if err != nil {
			continue // the caller reports whether the place's own file exists
		}
		seen[dir] = true
		for base := range files {
			if tests || !strings.HasSuffix(base, "_test.go") {
				names[dir+base] = true
			}
		}
	}
}

// write writes the trace of x with the files to to, or over it, and returns the number of bytes
// added.
func (a *archiving) writeTo(ctx context.Context, x *annotated, list []*storing, to string) (int64, error) {
	if a.to != "" {
		if err := mustNotExist(to); err != nil {
			return 0, err
		}
	}
	n, chunk, path := x.t.NextFile(), int64(x.t.Header().ChunkSize), x.path
	if int64(n)+int64(len(list)) > 1<<32-1 || n == 0 {
		return 0, fmt.Errorf("%s: no number is left for another file", show.Name(path))
	}
	x.close() // before it is replaced
	return writeStored(ctx, path, to, chunk, n, list, a.to == "")
}
