// Program forks records, while C code forks children that continue as the same program. It
// prints how many scopes called "parent" its recordings have, or what went wrong.
package main

/*
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern void inChild(void);

static volatile int *step; // how far the child is; shared with it

static void prepare(void) {
	step = mmap(0, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0);
}
static void reached(int n) { *step = n; }
static int reachedStep(void) { return *step; }

enum { all = 100 }; // steps
static void didAll(void) {
	*step = all;
	ualarm(100000, 0);
}

// A child that hangs is ended by the alarm.
static pid_t start(int callback) {
	*step = 0;
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGALRM, SIG_DFL);
		alarm(5);
		if (callback) {
			inChild();
			_exit(0);
		}
	}
	return pid;
}

static int ended(pid_t pid) {
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/scope"
)

var (
	dir     = os.Args[1]
	when    = os.Args[2] // when to fork: before, during or after the recording
	backing = map[string]scope.BackingKind{"disk": scope.DiskBacking, "shm": scope.ShmBacking, "heap": scope.HeapBacking}[os.Args[3]]

	parents atomic.Int64 // scopes recorded
	plain   sync.Mutex
	locked  scope.Mutex // held by the parent when it forks
	end     = func() {} // of a scope that was begun before the fork
	span    scope.Span
	process = func() {}
)

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	C._exit(1)
}

//export inChild
func inChild() { child() }

// child calls all functions: nothing is recorded.
func child() {
	n := C.int(0)
	at := func() { n++; C.reached(n) }
	end()
	at()
	span.End("child", 1)
	at()
	process()
	at()
	if when == "during" {
		locked.Unlock()
	}
	at()
	for i := range 100 {
		scope.Task("child")()
		scope.Task("child", i)()
		scope.Task("child", "text", scope.KV("child", i))()
	}
	at()
	scope.Taskf("child %d", 1)()
	at()
	scope.Process("child")()
	at()
	scope.Pending("child")()
	at()
	s := scope.Begin("child")
	s.End(1)
	at()
	scope.Event("child")
	at()
	scope.Counter("child", 1)
	at()
	scope.Stack("child", 1)
	at()
	scope.Track("child")
	at()
	scope.Lock(&plain, "child")()
	scope.Lock(&locked, "child")()
	at()
	locked.Lock()
	locked.Unlock()
	at()
	r := scope.Retry("child")
	r.Again()
	r.Done()
	at()
	if scope.Enabled() {
		fail("Enabled is true in the child")
	}
	if s := scope.Stats(); s != (scope.Statistics{}) {
		fail("Stats in the child: %+v", s)
	}
	at()
	if err := scope.Stop(); err != scope.ErrStopped {
		fail("Stop in the child: %v", err)
	}
	at()
	if err := scope.Snapshot(dir); err != scope.ErrStopped {
		fail("Snapshot in the child: %v", err)
	}
	at()
	if err := scope.SetFilter("-*"); err != scope.ErrStopped {
		fail("SetFilter in the child: %v", err)
	}
	at()
	if err := scope.Start(dir); !errors.Is(err, scope.ErrForked) {
		fail("Start in the child: %v", err)
	}
	at()
	scope.Go("child", func() {})
	C.didAll()
}

// fork runs child in a child of fork(2). Either C calls back into Go there, or fork
// returns to Go, which then lets other goroutines run for 100 ms, the recorder's among
// them.
func fork(callback bool) {
	for tries := 1; ; tries++ {
		pid := begin(callback)
		if code := C.ended(pid); wait(code, tries) {
			return
		}
	}
}

func begin(callback bool) C.pid_t {
	c := C.int(0)
	if callback {
		c = 1
	}
	pid := C.start(c)
	if pid == 0 {
		child()
		for { // until the alarm: the scheduler may wait for threads that do not exist
			runtime.Gosched()
		}
	}
	return pid
}

// wait reports whether the child ended well; false if it hung, which the Go runtime may
// cause by itself: locks held by threads that do not exist in the child stay locked.
func wait(code C.int, tries int) bool {
	s := syscall.WaitStatus(code)
	switch {
	case s == 0, s.Signaled() && s.Signal() == syscall.SIGALRM && C.reachedStep() == C.all:
		return true
	case s.Signaled() && s.Signal() == syscall.SIGALRM && tries < 4:
		fmt.Fprintf(os.Stderr, "the child hung behind step %d\n", C.reachedStep())
		return false
	}
	fail("the child ended with %#x (exit %d, signal %v) behind step %d", code, s.ExitStatus(), s.Signal(), C.reachedStep())
	return true
}

// record records until quit is closed, on another thread.
func record(quit chan bool) (done chan bool) {
	done = make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
				parent(100)
				time.Sleep(time.Millisecond)
			}
		}
	}()
	return done
}

func parent(n int) {
	for range n {
		scope.Task("parent")()
		parents.Add(1)
	}
}

func start() {
	err := scope.Start(dir, scope.WithBacking(backing), scope.WithFlushEvery(10*time.Millisecond), scope.WithHeartbeat(10*time.Millisecond))
	if err != nil {
		fail("%v", err)
	}
}

func stop() {
	if err := scope.Stop(); err != nil {
		fail("%v", err)
	}
	s := scope.Stats()
	fmt.Printf("%s\n", s.Path)
	if l := s.Lost; l != (scope.Lost{}) {
		fail("lost: %+v", l)
	}
}

func main() {
	// A P for every goroutine: in a child, the Ps of other threads can't be retaken.
	runtime.GOMAXPROCS(16)
	debug.SetGCPercent(-1)
	C.prepare()
	switch when {
	case "before":
		fork(true)
		fork(false)
		start()
		parent(1000)
		stop()
	case "after":
		start()
		end = scope.Task("held")
		parent(1000)
		stop()
		fork(true)
		fork(false)
	case "during":
		during()
	}
	fmt.Printf("parents %d\n", parents.Load())
}

func during() {
	start()
	quit := make(chan bool)
	done := record(quit)
	for _, callback := range []bool{true, false} {
		end, span, process = scope.Task("held"), scope.Begin("held"), scope.Process("held")
		locked.Lock()
		fork(callback)
		locked.Unlock()
		process()
		span.End()
		end()
	}
	end, span, process = func() {}, scope.Span{}, func() {}
	// A process started by os/exec is another program, and does not concern the recorder.
	if err := exec.Command("/bin/true").Run(); err != nil || !scope.Enabled() {
		fail("os/exec: %v; recording: %v", err, scope.Enabled())
	}
	close(quit)
	<-done
	// A child that outlives the recording must not write to it.
	for tries := 1; ; tries++ {
		locked.Lock()
		pid := begin(false)
		locked.Unlock()
		if tries == 1 {
			stop()
		}
		before := trace()
		code := C.ended(pid)
		if !bytes.Equal(before, trace()) {
			fail("a child has written to the trace")
		}
		if wait(code, tries) {
			return
		}
	}
}

func trace() []byte {
	b, err := os.ReadFile(scope.Path())
	if err != nil {
		fail("%v", err)
	}
	return b
}
