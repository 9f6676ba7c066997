package build

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// overlay maps paths to the files that the go command reads instead: "" if there is to be
// none.
type overlay map[string]string

// theirOverlay returns the user's overlay, from the command line or GOFLAGS, and the path of
// its file.
func theirOverlay(e *environment, l *Line, dir string) (overlay, string, error) {
	var names []string
	for _, f := range e.flags() {
		if name, ok := strings.CutPrefix(strings.TrimPrefix(f, "-"), "-overlay="); ok {
			names = append(names, name)
		} else if name, ok := strings.CutPrefix(f, "-overlay="); ok {
			names = append(names, name)
		}
	}
	for i, f := range l.Flags {
		f = strings.TrimPrefix(f, "-")
		if name, ok := strings.CutPrefix(f, "-overlay="); ok {
			names = append(names, name)
		} else if name, ok := strings.CutPrefix(f, "overlay="); ok {
			names = append(names, name)
		} else if (f == "overlay" || f == "-overlay") && i+1 < len(l.Flags) {
			names = append(names, l.Flags[i+1])
		}
	}
	switch len(names) {
	case 0:
		return overlay{}, "", nil
	case 1:
	default:
		return nil, "", fmt.Errorf("-overlay is given %d times (%s): the go command would use only the last; omit the others", len(names), strings.Join(names, ", "))
	}
	name := names[0]
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, "", fmt.Errorf("-overlay: %w", err)
	}
	var x struct{ Replace map[string]string }
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, "", fmt.Errorf("-overlay %s: %w", name, err)
	}
	o := overlay{}
	for from, to := range x.Replace {
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		if to != "" && !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		o[filepath.Clean(from)] = to
	}
	return o, name, nil
}

// at returns the path that the go command reads for a file: "" if there is none.
func (o overlay) at(path string) string {
	if to, ok := o[path]; ok {
		return to
	}
	return path
}

// read reads a file as the go command does.
func (o overlay) read(path string) ([]byte, error) {
	to := o.at(path)
	if to == "" {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
	}
	return os.ReadFile(to)
}

// encode returns the overlay in the go command's format.
func (o overlay) encode() []byte {
	b, err := json.Marshal(struct{ Replace overlay }{o})
	if err != nil {
		panic(err) // impossible: it has only strings
	}
	return b
}
