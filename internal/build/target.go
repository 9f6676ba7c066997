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

// target describes the last output of go build.
type target struct {
	Path  string
	At    at
	Began time.Time // the plan's
	Stamp string    // state of version control at the build
}

// Target returns the path of go build's output; "" if it is not known, or if flags request
// more than the output.
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

// asksMore reports whether one of the flags makes go build do something even if nothing has
// changed.
func asksMore(flags []string) bool {
	return slices.ContainsFunc(flags, func(f string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(f, "-"), "=")
		return strings.HasPrefix(f, "-") && (slices.Contains(words("a n v x work json toolexec"), name) || strings.HasPrefix(name, "debug-"))
	})
}

// executableName returns go build's default name of a program.
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

// Built reports whether the executable at path is the last one built by this plan: then
// nothing has changed since, and the go command need not be called.
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

// SetBuilt stores that path was built, if it was, since the call of Built.
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

// versionControl returns everything that the go command could use of version control for the
// program's version: the checked-out commit, whether files differ from it, and the tags. ok
// is false if that is not available.
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
