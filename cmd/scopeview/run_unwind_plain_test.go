package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/hostmod"
)

// besideProgram uses a module with the name, and the assembly, of one that changes the frame
// pointer. If its argument is a path, it records there.
const besideProgram = `-- go.mod --
module example.com/beside

go 1.26.0

require github.com/dgraph-io/ristretto/v2 v2.4.2

replace github.com/dgraph-io/ristretto/v2 => ./known
-- known/go.mod --
module github.com/dgraph-io/ristretto/v2

go 1.26.0
-- known/one.go --
package known

func One() // leaves 1 in the register
-- known/one_amd64.s --
#include "textflag.h"

TEXT ·One(SB), NOSPLIT, $0-0
	MOVQ $1, BP
	RET
-- main.go --
package main

import (
	"fmt"
	"os"
	"runtime"

	known "github.com/dgraph-io/ristretto/v2"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

//go:noinline
func calls() {
	known.One()
	runtime.Gosched()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
}

func main() {
	if len(os.Args) > 1 {
		if err := scope.Start(os.Args[1], gotrace.With()); err != nil {
			fmt.Println(err)
		}
	}
	for range 1000 {
		calls()
	}
	if len(os.Args) > 1 {
		if err := scope.Stop(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("lived")
}
`

// TestG41Plain: a program that was not built by scopeview, and has a module that changes the frame
// pointer, survives gotrace.With. Its trace has no states, and info says why; if Go's tracer is set
// to unwind by tables, it has them.
func TestG41Plain(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the module's assembly is for amd64")
	}
	l := launching(t, besideProgram)
	hostmod.Complete(t, l.dir)
	program := filepath.Join(l.dir, "beside")
	if r := l.process(append(l.env, hostmod.Env...), "", "go", "build", "-o", program, "."); r.code != 0 {
		t.Fatal(r)
	}
	if r := l.process(append(l.env, "GODEBUG="), "", program); r.code != 0 || r.out != "lived\n" {
		t.Fatalf("without us: %s", r)
	}
	for _, c := range []struct{ godebug, says string }{
		{"", "none: assembly of github.com/dgraph-io/ristretto/v2 changes the frame pointer"},
		{"tracefpunwindoff=1", "of Go's execution trace"},
	} {
		to := filepath.Join(t.TempDir(), "x.scope")
		if r := l.process(append(l.env, "GODEBUG="+c.godebug), "", program, to); r.code != 0 || r.out != "lived\n" {
			t.Errorf("GODEBUG=%q: %s", c.godebug, r)
		}
		if r := l.tool("info", to); !strings.Contains(r.out, c.says) {
			t.Errorf("GODEBUG=%q: info: %s", c.godebug, r)
		}
	}
	// A build by scopeview has the check, and is safe together with any module.
	to := t.TempDir()
	if r := l.with([]string{"GODEBUG=", "SCOPEVIEW_STATES=1"}, "", "run", "--budget=100%", "-o", to, "."); r.code != 0 || r.out != "lived\n" {
		t.Errorf("rewritten: %s", r)
	} else if r := l.tool("info", to); !strings.Contains(r.out, "of Go's execution trace") {
		t.Errorf("rewritten: info: %s", r)
	}
}

// TestG41Unfit: with a Go tracer that the patch does not fit, a rewritten build of a program whose
// assembly changes the frame pointer survives, without states, and both run and info say why.
func TestG41Unfit(t *testing.T) {
	if !faultfs.Full() {
		t.Skip("compiles the standard library for a patch of its own; SCOPEVIEW_FAULT=full")
	}
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("only on amd64 and arm64 Go's tracer follows frame pointers")
	}
	l := launching(t, clobberProgram)
	root := filepath.Join(t.TempDir(), "go")
	from := strings.TrimSpace(l.process(l.env, "", "go", "env", "GOROOT").out)
	if r := l.process(l.env, "", "cp", "-r", from, root); r.code != 0 {
		t.Fatal(r)
	}
	stacks := filepath.Join(root, "src/runtime/tracestack.go")
	b := filetest.Read(t, stacks)
	filetest.Write(t, stacks, []byte(strings.Replace(string(b), "nstk := 1", "var nstk = 1", 1)))
	l.env = append(l.env, "GODEBUG=", "GOROOT="+root, "GOTOOLCHAIN=local", "PATH="+filepath.Join(root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, again := range []string{"", ", of the plan that is kept"} {
		to := t.TempDir()
		r := l.tool("run", "--budget=100%", "-o", to, ".")
		if r.code != 0 || r.out != "lived\n" || !strings.Contains(r.err, "no states of goroutines are recorded") {
			t.Errorf("run%s: %s", again, r)
		}
		if r := l.tool("info", to); !strings.Contains(r.out, `none: Go's tracer follows frame pointers without a check, for the hook unwind is not in: runtime/tracestack.go: traceStack: "nstk := 1" occurs 0 times`) {
			t.Errorf("info%s: %s", again, r)
		}
	}
}
