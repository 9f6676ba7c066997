package build

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// target is what go build has made.
type target struct {
	Path  string
	At    at
	Began time.Time // the plan's
	Stamp string    // what of the version control went into it
}

// Target returns where go build writes what is planned; "" where that is not known, or where
// more is asked than to have it.
func (p *Plan) Target() string {
	if p.Main == "" || asksMore(p.Flags) {
		return ""
	}
	to := p.Name
	if p.Output != "" {
		to = p.Output
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(p.Dir, to)
	}
	return to
}

// asksMore reports whether one of the flags has go build do something where nothing has changed.
func asksMore(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return strings.HasPrefix(f, "-") && (slices.Contains(words("a n v x work json toolexec"), name) || strings.HasPrefix(name, "debug-"))
	})
}

// executableName is what go build calls a program that is given no name.
func executableName(x *listed, goos string) string {
	name := path.Base(x.ImportPath)
	if version := strings.TrimPrefix(name, "v"); version != name && strings.Trim(version, "0123456789") == "" && name != x.ImportPath {
		name = path.Base(path.Dir(x.ImportPath))
	}
	if x.ImportPath == "command-line-arguments" && len(x.GoFiles) > 0 {
		name = strings.TrimSuffix(x.GoFiles[0], ".go")
	}
	if goos == "windows" {
		name += ".exe"
	}
	return name
}

// Built reports whether the executable at path is that which was built by this plan last: then
// nothing has changed since, and the go command need not be asked.
func (p *Plan) Built(ctx context.Context, path string) bool {
	if path == "" {
		return false
	}
	p.stamp, p.stamped = p.versionControl(ctx)
	b, err := os.ReadFile(p.file + ".built")
	if err != nil {
		return false
	}
	var t target
	return json.Unmarshal(b, &t) == nil && t.Path == path && t.Stamp == p.stamp && p.stamped &&
		t.Began.Equal(p.Began) && t.At != (at{}) && t.At == stat(path)
}

// SetBuilt notes that path was built, if it was, since Built was asked.
func (p *Plan) SetBuilt(c Cache, path string) error {
	t := target{Path: path, At: stat(path), Began: p.Began, Stamp: p.stamp}
	if p.C || path == "" || !p.stamped || t.At.Size <= 0 || t.At.Time < p.Began.UnixNano() {
		// Headers and libraries that C code includes are not among the inputs.
		return nil
	}
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return c.write(p.file+".built", b)
}

// versionControl is all that the go command can learn of it for the program's version: what is
// checked out, whether files differ from that, and the tags. It is not ok where this can't be had.
func (p *Plan) versionControl(ctx context.Context) (text string, ok bool) {
	if p.verb == Run || p.Unstamped {
		return "", true
	}
	for dir := p.Main; ; dir = filepath.Dir(dir) {
		for _, other := range []string{".hg", ".svn", ".bzr", ".fslckout", "_FOSSIL_"} {
			if stat(filepath.Join(dir, other)) != (at{}) {
				return "", false
			}
		}
		if stat(filepath.Join(dir, ".git")) != (at{}) {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", true
		}
	}
	for _, args := range [][]string{
		{"status", "--porcelain=v2", "--branch", "--no-ahead-behind"},
		{"for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"},
	} {
		cmd := exec.CommandContext(ctx, "git", append([]string{"--no-optional-locks", "-C", p.Main}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			return "", false
		}
		text += string(out)
	}
	return hash([]byte(text)), true
}
