package build

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
)

// kept matches paths of files in the cache, even as shortened by the go command.
var kept = regexp.MustCompile(`[^\s:"'()]*[/\\]files[/\\]([0-9a-f]{2})[/\\]([0-9a-f]{30})[/\\][^\s:"'()]+`)

// Relabel returns a writer that replaces the paths of edited copies in the go command's
// messages by the user's, shortened as the go command does. Close writes the rest.
func (p *Plan) Relabel(w io.Writer) (io.WriteCloser, error) {
	o, err := p.overlaid()
	if err != nil {
		return nil, err
	}
	r := &relabeler{w: w, names: map[string]string{}}
	for user, edited := range o {
		if m := kept.FindStringSubmatch(edited); m != nil {
			r.names[m[1]+m[2]+filepath.Base(edited)] = p.short(user)
		}
	}
	return r, nil
}

// short returns a file's name as the go command shows it.
func (p *Plan) short(path string) string {
	rel, err := filepath.Rel(p.Dir, path)
	switch {
	case err != nil || len(rel) >= len(path):
		return path
	case filepath.Base(rel) == rel:
		return "." + string(filepath.Separator) + rel
	}
	return rel
}

type relabeler struct {
	w     io.Writer
	names map[string]string
	rest  []byte // an incomplete line
}

func (r *relabeler) Write(b []byte) (int, error) {
	r.rest = append(r.rest, b...)
	n := bytes.LastIndexByte(r.rest, '\n') + 1
	if bytes.IndexByte(r.rest[n:], filepath.Separator) < 0 {
		n = len(r.rest) // no file name is that long
	}
	if err := r.pass(n); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (r *relabeler) Close() error { return r.pass(len(r.rest)) }

// pass writes the first n bytes of rest.
func (r *relabeler) pass(n int) error {
	text := kept.ReplaceAllFunc(r.rest[:n], func(name []byte) []byte {
		m := kept.FindSubmatch(name)
		if user := r.names[string(m[1])+string(m[2])+filepath.Base(string(name))]; user != "" {
			return []byte(user)
		}
		return name
	})
	r.rest = append(r.rest[:0], r.rest[n:]...)
	_, err := r.w.Write(text)
	return err
}
