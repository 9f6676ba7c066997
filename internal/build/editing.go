package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/build/instrument"
)

// editing is a package that is traced. go tool cover counts statements in the text of the user's
// files, and what it writes is edited then: a statement more would be counted too, and
// cover reads past the overlay.
type editing struct {
	Dir, ImportPath, Name string
	There                 bool              // Dir is the user's
	LineDirs              bool              // see instrument.Input
	Files, With           map[string]string // where the texts are, by name
	Args                  bool
	Out                   map[string]string // why functions are left out, by name
}

// input is what instrument needs.
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

// edited is the package as it is to be; of a profile it leaves out what that shows to be called too
// often for a share of the CPU time.
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

// edits are what became of a package.
type edits struct {
	files     map[string]string // where texts are, by name
	Table     string            // which of them is added; "" for none
	Functions int               // that are recorded
	Left      []leftOut
	Broken    bool // it does not compile
}

// leftOut is a function that is not recorded.
type leftOut struct{ Why, Name string }

// edited edits a package, if that was not done before with the same texts. Of a large program
// a changed line is in one package, and looking at the others may take longer than the build.
func (m *maker) edited(e *editing) (*edits, error) {
	out := new(edits)
	edit := func() (map[string]string, map[string]at, error) {
		files, err := m.editTexts(e, out)
		return files, nil, err
	}
	var err error
	if m.line.Covering() {
		out.files, _, err = edit() // what a profile leaves out is to be known of e
		return out, err
	}
	key, err := m.editKey(e)
	if err == nil {
		out.files, err = m.o.Cache.again(key, out, edit)
	}
	return out, err
}

// editTexts edits a package, and returns where its texts are.
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
		// It is named by where it is, so that messages name the right file.
		if where[name], err = m.o.Cache.keep(filepath.Join(e.Dir, name), b); err != nil {
			return nil, err
		}
	}
	return where, nil
}

// editKey names all that a package's edits depend on.
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
		// Its shares decide, with that of the budget.
		parts = append(parts, fmt.Append(nil, m.o.Budget, m.profile))
	}
	return hash(parts...), nil
}
