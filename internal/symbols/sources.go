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

// Sources finds source files by the names that were passed to the compiler.
type Sources struct {
	Map [][2]string // prefixes of names and their replacements; the longest matching prefix counts

	// Stored returns a source stored with the samples, or nil if it is not stored. It is the
	// version that was compiled; only files found by Map have precedence.
	Stored func(file string) ([]byte, error)

	// StoredIn lists the stored sources of a directory, whose name ends in a slash. It may be
	// nil.
	StoredIn func(dir string) []string

	// Here reads a source of this machine by the name that was passed to the compiler; the
	// error for a missing file wraps fs.ErrNotExist. If it is nil, the file system is read, and
	// the go command is asked for the directories of Go and the modules.
	Here func(file string) ([]byte, error)

	asked       bool
	root, cache string // directories of Go and of its modules
	module, dir string // the main module, and its directory
}

// NoSourceError reports that a source file was not found.
type NoSourceError struct {
	File  string
	Tried []string
}

func (e *NoSourceError) Error() string {
	return fmt.Sprintf("the source %s was not found: looked for %s; give the directory with --path-map OLD=NEW", e.File, strings.Join(e.Tried, ", "))
}

// ParseMap parses one OLD=NEW.
func ParseMap(text string) ([2]string, error) {
	from, to, ok := strings.Cut(text, "=")
	if !ok || from == "" {
		return [2]string{}, fmt.Errorf("%q is not OLD=NEW, such as /build/src=/home/me/src", text)
	}
	return [2]string{from, to}, nil
}

// largest is the maximum size of a source in bytes; larger files are ignored.
const largest = 64 << 20

// Read returns the lines of a source file, and its path on this machine. The path is "" if the
// source is stored and no file here has the same content. The error is a *NoSourceError if the
// source is not found.
func (s *Sources) Read(file string) (lines []string, path string, err error) {
	b, path, err := s.ReadAll(file)
	if err != nil {
		return nil, path, err
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	return strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"), path, nil
}

// ReadAll is like Read and returns the whole file.
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

// first returns the first of the files that exists, or nil if none does.
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

// mapped lists the paths of a file according to Map.
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

// paths lists the paths where a file may be.
func (s *Sources) paths(file string) (list []string) {
	list = append(list, file)
	if s.Here != nil || filepath.IsAbs(file) || strings.HasPrefix(file, "/") {
		return list
	}
	// With -trimpath, std's files have their path below src, those of modules their path with
	// the module's version, and those of the main module theirs without.
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

// ask asks the go command for the directories of Go and the modules, without downloads.
func (s *Sources) ask() {
	if s.asked {
		return
	}
	s.asked = true
	s.root, s.cache = answers("env", "GOROOT", "GOMODCACHE")
	s.module, s.dir = answers("list", "-m", "-f", "{{.Path}}\n{{.Dir}}")
}

// answers returns the first two lines of the go command's output.
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

// escape writes a module's path as in the module cache: with a mark before capital letters, for
// case-insensitive file systems.
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
