package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// clobberProgram calls assembly that uses the frame pointer's register as a general one, and blocks
// while the value is still there. With TRACED set it takes an execution trace itself.
const clobberProgram = `-- go.mod --
module example.com/clobber

go 1.25
-- main.go --
package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/trace"
)

func one()     // leaves 1 in the register
func zero()    // leaves 0, with which a chain of frames ends
func inStack() // leaves an address in the stack that no frame is at

//go:noinline
func calls(what int) {
	switch what { // by name: by a func value they are called by a wrapper, which saves the register
	case 0:
		one()
	case 1:
		zero()
	case 2:
		inStack()
	}
	runtime.Gosched()
	done := make(chan bool)
	go func() { done <- true }()
	<-done
}

func work() {
	for i := range 3000 {
		calls(i % 3)
	}
}

func main() {
	if os.Getenv("TRACED") != "" {
		fmt.Fprintln(os.Stderr, trace.Start(io.Discard))
	}
	work()
	fmt.Println("lived")
}
-- main_test.go --
package main

import "testing"

func TestWork(t *testing.T) { work() }
-- asm_amd64.s --
#include "textflag.h"

TEXT ·one(SB), NOSPLIT, $0-0
	MOVQ $1, BP
	RET

TEXT ·zero(SB), NOSPLIT, $0-0
	XORQ BP, BP
	RET

TEXT ·inStack(SB), NOSPLIT, $0-0
	LEAQ 3(SP), BP
	RET
-- asm_arm64.s --
#include "textflag.h"

TEXT ·one(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $1, R29
	RET

TEXT ·zero(SB), NOSPLIT|NOFRAME, $0-0
	MOVD $0, R29
	RET

TEXT ·inStack(SB), NOSPLIT|NOFRAME, $0-0
	MOVD RSP, R29
	ADD  $3, R29
	RET
`

// throughProgram has panics that pass through C. The deferred functions above C's frames block.
const throughProgram = `-- go.mod --
module example.com/through

go 1.25
-- main.go --
package main

/*
extern void goBack(void);
static void through(int n) {
	char room[64];
	for (int i = 0; i < 64; i++)
		room[i] = n;
	goBack();
	__asm__ volatile("" : : "r"(room) : "memory");
}
*/
import "C"

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/trace"
)

//export goBack
func goBack() { runtime.Gosched(); panic("on purpose") }

//go:noinline
func calls() {
	defer func() {
		runtime.Gosched()
		defer runtime.Gosched()
		_ = recover()
	}()
	C.through(1)
}

func work() {
	for range 1000 {
		calls()
		runtime.Gosched()
	}
}

func main() {
	if os.Getenv("TRACED") != "" {
		fmt.Fprintln(os.Stderr, trace.Start(io.Discard))
	}
	work()
	fmt.Println("lived")
}
`

// TestG41: a program whose assembly or C code changes the frame pointer survives with states, where
// Go's own tracer crashes it; and the stacks of its states are complete.
func TestG41(t *testing.T) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("only on amd64 and arm64 Go's tracer follows frame pointers")
	}
	for name, text := range map[string]string{"assembly": clobberProgram, "C": throughProgram} {
		t.Run(name, func(t *testing.T) {
			l := launching(t, text)
			if name == "C" {
				if cc, err := exec.Command("go", "env", "CC").Output(); err != nil {
					t.Skip(err)
				} else if _, err := exec.LookPath(strings.TrimSpace(string(cc))); err != nil {
					t.Skip("no C compiler: ", err)
				}
				l.env = append(l.env, "CGO_ENABLED=1")
			}
			l.env = append(l.env, "GODEBUG=")
			plain := l.process(l.env, "", "go", "run", ".")
			if plain.out != "lived\n" || plain.code != 0 {
				t.Fatal(plain)
			}
			if r := l.process(append(l.env, "TRACED=1"), "", "go", "run", "."); !strings.Contains(r.err, "fpTracebackPCs") {
				t.Errorf("Go's own tracer lets the program live, so it shows nothing: %s", r)
			}
			to := t.TempDir()
			for _, env := range [][]string{{"SCOPEVIEW_STATES=1"}, {"SCOPEVIEW_RING=16M"}, {"TRACED=1"}} {
				if r := l.with(env, "", "run", "--budget=100%", "-o", to, "."); r.out != plain.out || r.code != 0 {
					t.Errorf("%v: %s", env, r)
				} else if env[0] == "SCOPEVIEW_STATES=1" {
					wholeStacks(t, l, to)
				}
			}
			if name == "assembly" {
				if r := l.tool("test", "--keep", "--budget=100%", "."); r.code != 0 {
					t.Errorf("as a test: %s", r)
				}
			}
		})
	}
}

// wholeStacks checks the stacks with which main.calls and its callees gave up their processor, as
// printed by Go's own command: each leads to main.main.
func wholeStacks(t *testing.T, l *launcher, traces string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "x.trace")
	if r := l.tool("export", "gotrace", traces, "-o", out); r.code != 0 {
		t.Fatal(r)
	}
	shown := l.process(l.env, "", "go", "tool", "trace", "-d=parsed", out)
	if shown.code != 0 {
		t.Fatal(shown)
	}
	stacks := 0
	for _, event := range strings.Split(shown.out, "\n\n") {
		_, stack, ok := strings.Cut(event, "Stack=\n")
		if !ok || !strings.Contains(event, `GoID=1 Running->Runnable Reason="runtime.Gosched"`) {
			continue
		}
		stacks++
		if !strings.Contains(stack, "main.main @") || !strings.Contains(stack, "main.work @") {
			t.Fatalf("a stack is not whole:\n%s", event)
		}
	}
	if stacks < 1000 {
		t.Errorf("%d stacks, at least 1,000 are to be there", stacks)
	}
}
