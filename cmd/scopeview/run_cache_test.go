package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestRunCached: a package in the module cache, where the go command lets no file be replaced or
// added, is run, built and tested by its import path like one of the main module: alone, in a
// workspace, and beside a vendor directory. Packages of its module record, those of others do not.
func TestRunCached(t *testing.T) {
	l := launching(t, `-- proxy/example.com/other/@v/source/go.mod --
module example.com/other

go 1.26.0
-- proxy/example.com/other/@v/source/other.go --
package other

//go:noinline
func Other(s []int) {
	for range 2 {
		clear(s)
	}
}
-- proxy/example.com/tool/@v/source/go.mod --
module example.com/tool

go 1.26.0

require example.com/other v1.0.0
-- proxy/example.com/tool/@v/source/go.sum --
-- proxy/example.com/tool/@v/source/cmd/tool/main.go --
package main

import (
	"fmt"
	"os"

	"example.com/tool/work"
)

func main() {
	work.Work(len(os.Args))
	fmt.Println("worked", os.Args[1:])
}
-- proxy/example.com/tool/@v/source/work/work.go --
package work

import "example.com/other"

//go:noinline
func Work(n int) {
	for range 2 {
		other.Other(make([]int, n))
	}
}
-- proxy/example.com/tool/@v/source/work/work_test.go --
package work

import "testing"

func TestWork(t *testing.T) { Work(1) }
-- user/go.mod --
module example.com/user

go 1.26.0
-- user/user.go --
package user
-- work/go.work --
go 1.26.0

use ../user
`)
	for _, name := range []string{"other", "tool"} {
		serveModule(t, filepath.Join(l.dir, "proxy/example.com", name, "@v"), module.Version{Path: "example.com/" + name, Version: "v1.0.0"})
	}
	was, err := exec.Command("go", "env", "GOMODCACHE").Output() // has what the recorder needs
	if err != nil {
		t.Fatal(err)
	}
	proxies := "file://" + filepath.ToSlash(filepath.Join(l.dir, "proxy")) + ",file://" + filepath.ToSlash(strings.TrimSpace(string(was))) + "/cache/download"
	l.env = append(l.env, "GOPROXY="+proxies, "GOSUMDB=off", "GOWORK=", "GOMODCACHE="+filepath.Join(l.dir, "cache"), "GOFLAGS="+goflags("-buildvcs=false -modcacherw"))
	l.dir = filepath.Join(l.dir, "user")
	goes := func(args ...string) {
		t.Helper()
		if r := l.process(l.env, "", "go", args...); r.code != 0 {
			t.Fatalf("go %s: %s", strings.Join(args, " "), r.err)
		}
	}
	goes("get", "-tool", "example.com/tool/cmd/tool@v1.0.0")
	check := func(where string, env ...string) {
		t.Helper()
		r := l.with(env, "", "run", "example.com/tool/cmd/tool", "a", "b")
		if r.code != 0 || r.out != "worked [a b]\n" {
			t.Fatalf("%s: exit %d, %s%s", where, r.code, r.out, r.err)
		}
		if got := l.scopes(r.err); got["work.Work"] != 1 || got["other.Other"] != 0 {
			t.Errorf("%s: recorded %v", where, got)
		}
	}
	check("alone")
	check("in a workspace", "GOWORK="+filepath.Join(l.dir, "../work/go.work"))
	if r := l.tool("run", "-C", "..", "example.com/tool/cmd/tool"); r.code == 0 {
		t.Error("it was run where no module has it")
	}
	if r := l.tool("test", "--keep", "example.com/tool/work"); r.code != 0 || l.scopes(r.err)["work.Work"] != 1 {
		t.Errorf("test: exit %d, %s%s", r.code, r.out, r.err)
	}
	program := filepath.Join(l.dir, "program")
	if r := l.tool("build", "-o", program, "example.com/tool/cmd/tool"); r.code != 0 {
		t.Errorf("build: exit %d, %s", r.code, r.err)
	}
	if r := l.process(append(l.env, "SCOPEVIEW="+filepath.Join(l.dir, "x.scope")), "", program); r.code != 0 || r.out != "worked []\n" {
		t.Errorf("what was built: exit %d, %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat(filepath.Join(l.dir, "x.scope")); err != nil {
		t.Error(err)
	}
	goes("mod", "vendor")
	check("beside a vendor directory")
}

// serveModule makes a version of a module for a file proxy from its source in dir.
func serveModule(t *testing.T, dir string, m module.Version) {
	t.Helper()
	name := filepath.Join(dir, m.Version)
	f, err := os.Create(name + ".zip")
	if err == nil {
		err = zip.CreateFromDir(f, m, filepath.Join(dir, "source"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	mod := filetest.Read(t, filepath.Join(dir, "source", "go.mod"))
	for end, text := range map[string]string{".mod": string(mod), ".info": `{"Version":"` + m.Version + `"}`} {
		if err := os.WriteFile(name+end, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(m.Version+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
