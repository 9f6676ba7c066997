//go:build linux && amd64

package step

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const childVar = "SCOPEVIEW_STEP_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(childVar); how != "" {
		runtime.LockOSThread()
		fmt.Println(unix.Gettid())
		for n := uint64(0); ; n++ {
			Mark(1)
			if how == "works" {
				work(n)
			} else {
				_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&unix.Timespec{Nsec: 5e8})), 0, 0)
			}
			Mark(2)
		}
	}
	os.Exit(m.Run())
}

// work takes as many instructions each time, with the race detector too.
//
//go:noinline
//go:norace
func work(n uint64) (sum uint64) {
	for i := range uint64(100) {
		sum += i * n
	}
	return sum
}

// seized is the thread of a child that works or waits between two marks, as how says.
func seized(t *testing.T, how string) *Thread {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVar+"="+how, "GODEBUG=asyncpreemptoff=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	tid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	s, err := Seize(tid)
	if err != nil {
		_ = c.Process.Kill()
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		s.Reap()
		_ = c.Wait()
		runtime.UnlockOSThread()
	})
	if s.ID() != tid {
		t.Errorf("thread %d is called %d", tid, s.ID())
	}
	return s
}

// TestStep executes what lies between two marks instruction by instruction, twice: it
// is some hundred of them, and as many the second time.
func TestStep(t *testing.T) {
	s := seized(t, "works")
	var counts [2]int
	for i := range counts {
		if err := s.ToMark(1); err != nil {
			t.Fatal(err)
		}
		for there := false; !there; counts[i]++ {
			was := s.At()
			var err error
			if there, err = s.Step(2); err != nil {
				t.Fatal(err)
			}
			if s.At() == was {
				t.Fatalf("after %d steps it is where it was, at %#x", counts[i], was)
			}
			if counts[i] > 100_000 {
				t.Fatal("the second mark does not come")
			}
		}
	}
	if counts[0] < 300 || counts[0] != counts[1] {
		t.Errorf("%d instructions, and then %d", counts[0], counts[1])
	}
}

// TestWaits: stepping a thread that waits in the kernel comes to an end.
func TestWaits(t *testing.T) {
	s := seized(t, "waits")
	if err := s.ToMark(1); err != nil {
		t.Fatal(err)
	}
	defer func(d time.Duration) { patience = d }(patience)
	patience = 20 * time.Millisecond
	for range 1000 {
		switch there, err := s.Step(2); {
		case errors.Is(err, errWaits):
			return
		case err != nil:
			t.Fatal(err)
		case there:
			t.Fatal("it has not waited")
		}
	}
	t.Error("it takes more than 1000 instructions before it waits")
}
