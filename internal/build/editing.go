package build

import (
	"os"

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
