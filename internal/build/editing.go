package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/build/instrument"
)

// editing describes the edit of a traced package. With coverage, go tool cover counts
// statements in the user's files, and its output is edited: it would count an added
// statement too, and it ignores the overlay.
type editing struct {
	Dir, ImportPath, Name string
	There                 bool              // Dir is the user's directory
	LineDirs              bool              // see instrument.Input
	Files, With           map[string]string // paths of the texts, by name
	Args                  bool
	Out                   map[string]string // reasons why functions are left out, by name
}

// input returns the input of instrument.Package.
func (e *editing) input() (instrument.Input, error) {
	in := instrument.Input{
		ImportPath: e.ImportPath, Name: e.Name, Hooks: Hooks, Args: e.Args, LineDirs: e.LineDirs,
		Files: map[string][]byte{}, With: map[string][]byte{},
		LeaveOut: func(function string) (string, bool) {
			why, ok := e.Out[function]
			return why, ok
		},
	}
	if e.There {
		in.Dir = e.Dir
	}
	for _, x := range []struct {
		from map[string]string
		to   map[string][]byte
	}{{e.Files, in.Files}, {e.With, in.With}} {
		for name, path := range x.from {
			b, err := os.ReadFile(path)
			if err != nil {
				return in, err
			}
			x.to[name] = b
		}
	}
	return in, nil
}

// edited returns the edited package. With a profile it leaves out functions that, according
// to the profile, are called too often for a share of the CPU time.
func (e *editing) edited(p profile, share float64) (instrument.Output, error) {
	in, err := e.input()
	if err != nil {
		return instrument.Output{}, err
	}
	out, err := instrument.Package(in)
	if err != nil || len(p) == 0 {
		return out, err
	}
	hot := map[string]string{}
	for why, name := range e.Out {
		hot[why] = name
	}
	for i := range out.Funcs {
		if f := &out.Funcs[i]; p.hot(linkerName(e, f.Name), f, share) {
			hot[f.Name] = "the profile shows that it is called too often for its length"
		}
	}
	if len(hot) == len(e.Out) {
		return out, nil
	}
	e.Out = hot
	if in, err = e.input(); err != nil {
		return out, err
	}
	return instrument.Package(in)
}

// edits is the result of editing a package.
type edits struct {
	files     map[string]string // paths of the texts, by name
	Table     string            // name of the added one; "": none
	Functions int               // number of recorded functions
	Left      []leftOut
	Broken    bool // it does not compile
}

// leftOut is a function that is not recorded, and the reason.
type leftOut struct{ Why, Name string }

// edited edits a package, or returns the stored result for the same texts. A change in a
// large program is in one package, and examining the others may take longer than the build.
func (m *maker) edited(e *editing) (*edits, error) {
	out := new(edits)
	edit := func() (map[string]string, map[string]at, error) {
		files, err := m.editTexts(e, out)
		return files, nil, err
	}
	var err error
	if m.line.Covering() {
		out.files, _, err = edit() // e must know the functions that the profile leaves out
		return out, err
	}
	key, err := m.editKey(e)
	if err == nil {
		out.files, err = m.o.Cache.stored(key, out, edit)
	}
	return out, err
}

// editTexts edits a package, and returns the paths of its texts.
func (m *maker) editTexts(e *editing, out *edits) (map[string]string, error) {
	o, err := e.edited(m.profile, m.o.Budget)
	var path *os.PathError
	switch {
	case errors.As(err, &path):
		return nil, err
	case err != nil:
		out.Broken = true
		return nil, nil
	}
	for _, f := range o.Funcs {
		if f.Why != "" {
			out.Left = append(out.Left, leftOut{f.Why, f.Name})
			continue
		}
		out.Functions++
	}
	if len(o.Table.Text) > 0 {
		out.Table = o.Table.Name
		o.Files[out.Table] = o.Table.Text
	}
	where := map[string]string{}
	for name, b := range o.Files {
		// The file's name includes its path, so that messages name the right file.
		if where[name], err = m.o.Cache.keep(filepath.Join(e.Dir, name), b); err != nil {
			return nil, err
		}
	}
	return where, nil
}

// editKey returns a hash of everything that a package's edits depend on.
func (m *maker) editKey(e *editing) (string, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	parts := [][]byte{[]byte(m.o.Tool), b}
	for _, files := range []map[string]string{e.Files, e.With} {
		for _, name := range sortedKeys(files) {
			text, err := os.ReadFile(files[name])
			if err != nil {
				return "", err
			}
			parts = append(parts, []byte(name), text)
		}
	}
	if m.profile != nil {
		// The profile and the budget determine the functions left out.
		parts = append(parts, fmt.Append(nil, m.o.Budget, m.profile))
	}
	return hash(parts...), nil
}
