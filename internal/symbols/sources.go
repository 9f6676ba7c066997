package symbols

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Sources finds source files by the names that the compiler was given.
type Sources struct {
	Map [][2]string // beginnings of names, and what is to stand there; of several the longest counts

	// Stored returns a source that is stored with the samples, nil if it is not. It is what
	// was compiled; only where Map says is looked before.
	Stored func(file string) ([]byte, error)

	// StoredIn lists the sources of a directory, which ends in a slash, that are stored; nil:
	// none are.
	StoredIn func(dir string) []string

	// Here reads a source of this machine by the name that the compiler was given; what is not
	// there is an error that wraps fs.ErrNotExist. nil: the system's files are read, and the go
	// command is asked where Go and the modules are.
	Here func(file string) ([]byte, error)

	asked       bool
	root, cache string // of Go, and of its modules
	module, dir string // the main module here, and where it is
}

// NoSourceError says that a source file was not found.
type NoSourceError struct {
	File  string
	Tried []string
}

func (e *NoSourceError) Error() string {
	return fmt.Sprintf("the source %s was not found: looked for %s; give the directory with --path-map OLD=NEW", e.File, strings.Join(e.Tried, ", "))
}

// ParseMap reads one OLD=NEW.
func ParseMap(text string) ([2]string, error) {
	from, to, ok := strings.Cut(text, "=")
	if !ok || from == "" {
		return [2]string{}, fmt.Errorf("%q is no OLD=NEW, such as /build/src=/home/me/src", text)
	}
	return [2]string{from, to}, nil
}

// most bytes that a source has: what is larger is none.
const largest = 64 << 20

// Read returns the lines of a source file, and its path here: "" where it is stored, and no
// file here is the same. The error is a *NoSourceError where it is not found.
func (s *Sources) Read(file string) (lines []string, path string, err error) {
	b, path, err := s.ReadAll(file)
	if err != nil {
		return nil, path, err
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	return strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"), path, nil
}

// ReadAll is Read of a source file as it is.
func (s *Sources) ReadAll(file string) (content []byte, path string, err error) {
	mapped := s.mapped(file)
	if content, path, err = s.first(mapped); content != nil || err != nil {
		return content, path, err
	}
	paths := s.paths(file)
	if s.Stored != nil {
		if content, err = s.Stored(file); err != nil {
			return nil, "", err
		}
	}
	here, path, err := s.first(paths)
	switch {
	case content == nil && here == nil && err == nil:
		return nil, "", &NoSourceError{file, append(mapped, paths...)}
	case content == nil:
		return here, path, err
	case !bytes.Equal(content, here):
		path = ""
	}
	return content, path, nil
}

// first reads the first of some files that is there; nil: none is.
func (s *Sources) first(paths []string) (content []byte, path string, err error) {
	for _, p := range paths {
		if s.Here != nil {
			if content, err = s.Here(p); err == nil {
				return content, p, nil
			}
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, p, fmt.Errorf("reading the source: %w", err)
			}
			continue
		}
		st, err := os.Stat(p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!st.Mode().IsRegular() || st.Size() > largest) {
			continue
		}
		if content, err = os.ReadFile(p); err != nil {
			return nil, p, fmt.Errorf("reading the source: %w", err)
		}
		return content, p, nil
	}
	return nil, "", nil
}

// mapped lists where Map says that a file is.
func (s *Sources) mapped(file string) (list []string) {
	best := [2]string{}
	for _, m := range s.Map {
		if strings.HasPrefix(file, m[0]) && len(m[0]) > len(best[0]) {
			best = m
		}
	}
	if best[0] != "" {
		list = append(list, best[1]+file[len(best[0]):])
	}
	return list
}

// paths lists where a file may be.
func (s *Sources) paths(file string) (list []string) {
	list = append(list, file)
	if s.Here != nil || filepath.IsAbs(file) || strings.HasPrefix(file, "/") {
		return list
	}
	// -trimpath leaves std's files their path below src, those of modules theirs with the
	// module's version, and those of the main module theirs without.
	s.ask()
	if s.root != "" {
		list = append(list, filepath.Join(s.root, "src", file))
	}
	if rest, ok := strings.CutPrefix(file, s.module+"/"); ok && s.module != "" {
		list = append(list, filepath.Join(s.dir, rest))
	}
	if s.cache != "" && strings.Contains(file, "@") {
		list = append(list, filepath.Join(s.cache, escape(file)))
	}
	return list
}

// ask asks the go command where Go and the modules are. It is to download nothing for that.
func (s *Sources) ask() {
	if s.asked {
		return
	}
	s.asked = true
	s.root, s.cache = answers("env", "GOROOT", "GOMODCACHE")
	s.module, s.dir = answers("list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
}

// answers returns the first two lines that the go command prints.
func answers(args ...string) (first, second string) {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOPROXY=off")
	out, err := cmd.Output()
	if err != nil {
		return "", ""
	}
	lines := strings.Split(string(out)+"\n\n", "\n")
	return strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])
}

// escape writes a module's path as the module cache has it: capital letters with a mark, for
// file systems that don't tell them apart.
func escape(path string) string {
	var b strings.Builder
	for i, r := range path {
		if at := strings.IndexByte(path, '@'); r >= 'A' && r <= 'Z' && i < at {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
