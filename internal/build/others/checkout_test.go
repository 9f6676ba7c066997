package others

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// full skips a test that takes minutes and the network.
func full(t *testing.T) {
	t.Helper()
	if os.Getenv("SCOPEVIEW_RUN") != "full" {
		t.Skip("make run-check runs it")
	}
}

// checkout is a directory with a module, and the environment of commands in it.
type checkout struct {
	t    *testing.T
	dir  string
	tool string
	env  []string

	machine chan struct{} // the holder of its token runs; nil: programs do not share the machine
}

// built is the tool, built once.
var built struct{ tool, cache string }

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "scopeview-others-")
	if err != nil {
		panic(err)
	}
	built.tool, built.cache = filepath.Join(dir, "scopeview"), filepath.Join(dir, "cache")
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// at prepares a directory for builds.
func at(t *testing.T, dir string) *checkout {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	for _, name := range []string{"go", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs ", err)
		}
	}
	c := &checkout{t: t, dir: dir, tool: built.tool}
	c.env = append(os.Environ(), "SCOPEVIEW_CACHE="+built.cache, "SCOPEVIEW=", "GOWORK=off")
	if _, err := os.Stat(built.tool); err != nil {
		here := &checkout{t: t, dir: "../../..", env: os.Environ()}
		here.must("go", "build", "-buildvcs=false", "-o", built.tool, "./cmd/scopeview")
	}
	return c
}

// module checks out a module of the proxy: its files are committed, so that git shows
// changes. All tests share one checkout, or each would compile it again.
func module(t *testing.T, version string) *checkout {
	t.Helper()
	full(t)
	c := at(t, filepath.Join(filepath.Dir(built.tool), "modules", filepath.FromSlash(version)))
	if _, err := os.Stat(c.dir); err != nil {
		c.get(version)
	}
	t.Cleanup(func() {
		if changed := c.must("git", "status", "--porcelain", "--ignored").out; changed != "" {
			t.Errorf("%s: files were changed:\n%s", version, changed)
		}
	})
	return c
}

// get creates the checkout.
func (c *checkout) get(version string) {
	c.t.Helper()
	var m struct{ Dir string }
	here := &checkout{t: c.t, dir: c.t.TempDir(), env: c.env}
	if err := json.Unmarshal([]byte(here.must("go", "mod", "download", "-json", version).out), &m); err != nil {
		c.t.Fatal(err)
	}
	if err := os.CopyFS(c.dir, os.DirFS(m.Dir)); err != nil {
		c.t.Fatal(err)
	}
	c.must("chmod", "-R", "u+w", ".")
	c.must("git", "init", "-q")
	c.must("git", "add", "-A", "-f")
	c.must("git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "commit", "-qm", version)
}

// result is the output and the exit code of a command.
type result struct {
	out, err string
	code     int
}

func (c *checkout) run(name string, args ...string) result {
	c.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		c.t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func (c *checkout) must(name string, args ...string) result {
	c.t.Helper()
	r := c.run(name, args...)
	if r.code != 0 {
		c.t.Fatalf("%s %s: exit code %d\n%s%s", name, strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r
}

// traces returns the traces in a directory, and checks their number.
func traces(t *testing.T, dir string, want int) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.scope"))
	if err != nil || len(list) != want {
		t.Fatalf("%s has traces %v, want %d; %v", dir, list, want, err)
	}
	return list
}
