//go:build linux && !scope_off && !scope_pure && !race

package scope

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

var kills = flag.Int("kills", 20, "how many writers TestKill kills; 5 with -short")

const (
	killWorkers = 4
	killVictim  = "SCOPE_KILL_VICTIM" // the trace's path: the test binary is the victim
	killTruth   = "SCOPE_KILL_TRUTH"  // the file where it counts
)

// truth is what a worker has done, in memory of the parent's: begun is stored
// before a begin, ended after an end has returned.
type truth struct{ begun, ended atomic.Uint64 }

func mapTruth(f *os.File) (*[killWorkers]truth, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return (*[killWorkers]truth)(unsafe.Pointer(unsafe.SliceData(b))), nil
}

// victim records until it is killed: scopes with their number as argument, some
// inside others, some ended by another goroutine.
func victim(path string) error {
	f, err := os.OpenFile(os.Getenv(killTruth), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	t, err := mapTruth(f)
	if err != nil {
		return err
	}
	if err := Start(path, WithFlushEvery(10*time.Millisecond), WithLimit(256<<20)); err != nil {
		return err
	}
	for w := range killWorkers {
		go func() {
			me, other := &t[w], make(chan Span)
			back := make(chan bool)
			go func() {
				for s := range other {
					s.End()
					back <- true
				}
			}()
			for n := 0; ; n++ {
				me.begun.Store(uint64(n + 1))
				s := Begin("n", w, n)
				if n%7 == 0 {
					Task("inner")()
				}
				if n%1000 == 0 {
					other <- s
					<-back
				} else {
					s.End()
				}
				me.ended.Store(uint64(n + 1))
				if n%32 == 0 {
					time.Sleep(100 * time.Microsecond) // any disk is to follow
				}
			}
		}()
	}
	fmt.Println("running")
	select {}
}

// TestKill kills writers at random moments. Every scope whose end had returned
// is in the trace, ended; none is there that was not begun; one per worker may
// be open.
func TestKill(t *testing.T) {
	if path := os.Getenv(killVictim); path != "" {
		if err := victim(path); err != nil {
			t.Fatal(err)
		}
	}
	n := *kills
	if testing.Short() {
		n = min(n, 5)
	}
	for i := range n {
		t.Run(strconv.Itoa(i), killOnce)
	}
}

func killOnce(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "truth")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	facts, err := mapTruth(f)
	if err != nil {
		t.Fatal(err)
	}
	path := f.Name() + ".scope"
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), killVictim+"="+path, killTruth+"="+f.Name())
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); errors.Is(err, unix.ENOEXEC) {
		t.Skip("this processor is emulated, and the emulator does not run children")
	} else if err != nil {
		t.Fatal(err)
	}
	if line := make([]byte, 8); len(line) == 8 {
		if _, err := out.Read(line); err != nil {
			t.Fatal(err)
		}
	}
	// Not a wait for something: the moment is to be any.
	time.Sleep(time.Duration(rand.IntN(80_000)) * time.Microsecond)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()

	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	if tr.Closed() {
		t.Error("the trace of a killed writer says that it was closed")
	}
	var ended, open [killWorkers]map[uint64]int
	for w := range ended {
		ended[w], open[w] = map[uint64]int{}, map[uint64]int{}
	}
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind != format.KindTask || tr.Name(e.Name) != "n" {
			return true
		}
		if len(e.Args) != 2 || e.Args[0].Value >= killWorkers {
			t.Fatalf("a scope with the arguments %v", e.Args)
		}
		if w, k := e.Args[0].Value, e.Args[1].Value; e.Open {
			open[w][k]++
		} else {
			ended[w][k]++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if n := tr.State().Lost; n > 0 {
		t.Skipf("the victim lost %d scopes and counted them: the disk did not follow, and which they were can't be told", n)
	}
	for w := range ended {
		begun, done := facts[w].begun.Load(), facts[w].ended.Load()
		for k := range done {
			if ended[w][k] != 1 {
				t.Fatalf("worker %d: scope %d of %d that had ended is there %d times ended, %d times open", w, k, done, ended[w][k], open[w][k])
			}
		}
		if n := uint64(len(ended[w])); n > begun || n < done {
			t.Errorf("worker %d: %d scopes ended, %d had, %d were begun", w, n, done, begun)
		}
		if len(open[w]) > 1 {
			t.Errorf("worker %d: %d open scopes, at most one was", w, len(open[w]))
		}
		for k := range open[w] {
			if k >= begun {
				t.Errorf("worker %d: scope %d is open and was not begun", w, k)
			}
		}
	}
	for _, p := range tr.Problems() {
		if p.Damage() {
			t.Errorf("the trace is damaged: %s", p.Text)
		}
	}
}
