package samples

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// programs finds the process of each sample of a trace.
type programs struct {
	t     *trace.Trace
	known map[format.Program]bool // all that have samples, with Base and Thread 0
}

// of returns the process id of a sample.
func (p *programs) of(x *trace.Sample) (pid uint32) {
	if !p.t.HasPrograms() {
		return p.t.Header().PID
	}
	g := p.t.ProgramOf(x)
	g.Thread, g.Base = 0, 0
	p.known[g] = true
	return g.PID
}

// notes lists the processes, if there are several and the user has not selected any.
func (p *programs) notes() []string {
	if chosen, _ := p.t.Kept(); chosen != nil || len(p.known) < 2 {
		return nil
	}
	all := slices.SortedFunc(maps.Keys(p.known), func(a, b format.Program) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Path, b.Path)) })
	const most = 8
	var list []string
	for i, g := range all {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(all)-most))
			break
		}
		list = append(list, fmt.Sprintf("%d %s", g.PID, cmp.Or(path.Base(g.Path), "?")))
	}
	return []string{"the samples are of several processes, of which --process chooses some: " + strings.Join(list, ", ")}
}

// object returns the name of an object of a trace: its path and, if several files had that
// path, the build; "" for the program's own.
func (c *counters) object(o *format.Object) string {
	own := c.r.p
	if o.Path == own.Binary && (own.BuildID == "" || o.BuildID == own.BuildID) {
		return ""
	}
	name := o.Path
	if first, ok := own.objects[name]; ok && first.BuildID != o.BuildID || o.Path == own.Binary {
		name += "@" + cmp.Or(o.BuildID[:min(len(o.BuildID), 8)], "unknown")
	}
	own.object(Executable{name, o.Path, o.BuildID})
	return name
}

// Executable is a file with Go code that samples are of.
type Executable struct {
	Object        string // by its name in frames; "": the program's own
	Path, BuildID string // "": not known
}

// object adds a file that frames refer to, other than the program's own.
func (p *Profile) object(x Executable) {
	if p.objects == nil {
		p.objects = map[string]Executable{}
	}
	p.objects[x.Object] = x
}

// Executables returns the executables with Go code that samples are of, by path.
func (p *Profile) Executables() (list []Executable) {
	seen := map[string]bool{}
	for f := range p.Frames() {
		if strings.HasSuffix(f.File, ".go") && !seen[f.Object] {
			seen[f.Object] = true
			x := Executable{"", p.Binary, p.BuildID}
			if f.Object != "" {
				x = p.objects[f.Object]
			}
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b Executable) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Object, b.Object)) })
	return list
}

// ErrExecutables reports an ambiguous choice of executable.
var ErrExecutables = errors.New("the samples are of several executables")

// Executable returns the executable that name selects: its path, or the end of it. ""
// selects the only one, or the program itself if no Go code is known.
func (p *Profile) Executable(name string) (Executable, error) {
	all := p.Executables()
	if len(all) == 0 && name == "" {
		return Executable{"", p.Binary, p.BuildID}, nil
	}
	var found []Executable
	var names []string
	for _, x := range all {
		full := cmp.Or(x.Object, x.Path)
		names = append(names, cmp.Or(full, "the program"))
		switch {
		case full == name: // another path may have the same end
			return x, nil
		case name == "" || x.Path == name || strings.HasSuffix(full, "/"+name):
			found = append(found, x)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	list := strings.Join(names, ", ")
	if len(all) < 2 || len(found) == 0 {
		return Executable{}, fmt.Errorf("the samples are of no executable %q, but of %s", name, cmp.Or(list, "none that Go made"))
	}
	return Executable{}, fmt.Errorf("%w: %s", ErrExecutables, list)
}

// wantsObject reports whether the code of a stack's leaf is selected.
func (s *sum) wantsObject(sel *Selection, stack uint32) bool {
	if sel.Objects == nil {
		return true
	}
	leaf := s.frame[s.stacks[stack][0]]
	return sel.Objects.MatchFile(cmp.Or(leaf.Object, s.p.Binary))
}

// distinguish gives different functions with one name, of different files, distinct names:
// main.main (a). All sums over samples are by name.
func (s *sum) distinguish() {
	type home struct{ object, file string }
	homes := map[string]map[home]bool{}
	of := func(f *symbols.Frame) home {
		h := home{object: cmp.Or(f.Object, s.p.Binary, "the program")}
		if ext := path.Ext(f.File); cSources[strings.ToLower(ext)] {
			h.file = f.File
		}
		return h
	}
	for _, f := range s.frame {
		if homes[f.Func] == nil {
			homes[f.Func] = map[home]bool{}
		}
		homes[f.Func][of(f)] = true
	}
	for _, f := range s.frame {
		all := homes[f.Func]
		if len(all) < 2 || f.Func == UnknownName {
			continue
		}
		var objects, files []string
		mine := of(f)
		for h := range all {
			objects = append(objects, h.object)
			if h.object == mine.object {
				files = append(files, h.file)
			}
		}
		label := shortest(mine.object, objects)
		if short := shortest(mine.file, files); short != "" && label != "" {
			label += ", " + short
		} else {
			label = cmp.Or(label, short)
		}
		s.p.symbols[f] = f.Func
		defer func() { f.Func += " (" + label + ")" }() // deferred: other frames are still compared with it
	}
}

// cSources are the extensions of languages in which two files may each have a function of
// one name. In Go one name is one function, even if its lines are of several files.
var cSources = map[string]bool{".c": true, ".cc": true, ".cpp": true, ".cxx": true, ".m": true, ".mm": true}

// shortest returns the shortest end of a path that distinguishes it from the others; "" if
// there are none.
func shortest(file string, all []string) string {
	parts := strings.Split(file, "/")
	others := slices.DeleteFunc(slices.Clone(all), func(x string) bool { return x == file })
	if len(others) == 0 {
		return ""
	}
	for n := 1; n < len(parts); n++ {
		end := strings.Join(parts[len(parts)-n:], "/")
		if !slices.ContainsFunc(others, func(x string) bool { return x == end || strings.HasSuffix(x, "/"+end) }) {
			return end
		}
	}
	return file
}
