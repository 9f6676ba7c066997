package main

import (
	"regexp"
	"strings"
	"testing"
)

const testedProgram = `-- go.mod --
module example.com/tested

go 1.24
-- fails/fails_test.go --
package fails

import (
	"fmt"
	"testing"
)

func TestParent(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint("case", i), func(t *testing.T) {
			t.Parallel()
			if i == 2 {
				t.Fatal("two")
			}
			if i == 1 {
				t.Skip("one")
			}
		})
	}
}

func TestGood(t *testing.T) {}
-- passes/passes_test.go --
package passes

import (
	"os"
	"os/exec"
	"testing"
)

func TestChild(t *testing.T) {
	if os.Getenv("CHILD") == "1" {
		os.Exit(7)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestChild$")
	c.Env = append(os.Environ(), "CHILD=1")
	if _ = c.Run(); c.ProcessState.ExitCode() != 7 {
		t.Error(c.ProcessState)
	}
}
-- panics/panics.go --
package panics

import "fmt"

func serve(c chan string) {
	for i := range 10 {
		c <- fmt.Sprint("served ", i)
	}
}
-- panics/panics_test.go --
package panics

import "testing"

func TestPanic(t *testing.T) {
	c := make(chan string)
	go serve(c)
	<-c
	t.Run("inside", func(t *testing.T) { panic("on purpose") })
}
-- locks/locks_test.go --
package locks

import (
	"sync"
	"testing"
	"time"
)

func TestLocks(t *testing.T) {
	var (
		rw sync.RWMutex
		mu sync.Mutex
		wg sync.WaitGroup
		ch = make(chan int)
	)
	for range 4 {
		wg.Go(func() {
			rw.Lock()
			time.Sleep(2 * time.Millisecond)
			rw.Unlock()
			rw.RLock()
			time.Sleep(2 * time.Millisecond)
			rw.RUnlock()
			mu.Lock()
			time.Sleep(2 * time.Millisecond)
			mu.Unlock()
			ch <- 1
		})
	}
	for range 4 {
		<-ch
	}
	wg.Wait()
}
`

// TestTestsKept: one trace is kept for each package that fails, none of a process that a test
// starts, and the tests that failed, or were running at the end, are printed.
func TestTestsKept(t *testing.T) {
	l := launching(t, testedProgram)
	before := l.files()
	r := l.tool("test", "--no-states", "./fails", "./passes", "./panics")
	said := regexp.MustCompile(`scopeview: \S*[/\\](\w+)\.test-\S*\.scope\n`).ReplaceAllString(r.err, "$1: ")
	said = regexp.MustCompile(`(?m)^(\w+: )?scopeview: ([a-z-]+: )?[A-Z].*\.\n`).ReplaceAllString(said, "$1") // the doctor's
	if want := "fails: scopeview: failed: TestParent/case2\npanics: scopeview: not ended: TestPanic/inside\n"; said != want || r.code != 1 {
		t.Errorf("it said %q, want %q; %s", said, want, r)
	}
	if !strings.Contains(r.out, "ok  \texample.com/tested/passes\t") {
		t.Error(r.out)
	}
	if r = l.tool("test", "--keep", "--no-states", "./passes"); strings.Count(r.err, ".scope\n") != 1 || r.code != 0 {
		t.Errorf("with --keep: %s", r)
	}
	if got := l.scopes(r.err); got["TestChild"] != 1 {
		t.Errorf("recorded %v", got)
	}
	if after := l.files(); after != before {
		t.Errorf("files were changed:\n%s\nwant\n%s", after, before)
	}
}

// TestTestsRaceDetector: the race detector reports no race of the recorder's in waits of package
// sync, which it does not observe.
func TestTestsRaceDetector(t *testing.T) {
	if !cgoWorks(t) {
		t.Skip("the race detector needs cgo")
	}
	l := launching(t, testedProgram)
	if r := l.tool("test", "-race", "./locks"); r.code != 0 || r.err != "" {
		t.Error(r)
	}
}
