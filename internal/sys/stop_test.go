//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !scope_nogoid && !scope_noyield && !scope_off && !race

package sys_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/scope"
)

// parked is a page shared by the test and its child. Stopping the world stops
// all of Go in the child, so no goroutine there could observe it, or release
// the writer.
type parked struct {
	inside, leave uint32 // of the writer
	stopping      uint32 // Stop is being called
	stopped       uint32 // Stop has returned
}

func mapParked(t *testing.T, f *os.File) *parked {
	t.Helper()
	b, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	return (*parked)(unsafe.Pointer(&b[0]))
}

// TestStopWaitsForWriters parks a writer inside the assembly and calls Stop:
// Stop must not return, and the trace must stay mapped, before the writer has
// left.
func TestStopWaitsForWriters(t *testing.T) {
	const env = "SCOPE_TEST_PARKED"
	if dir := os.Getenv(env); dir != "" {
		stopWithParkedWriter(t, dir)
		return
	}
	faultfs.Children(t)
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("the writer would have the only processor")
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "page"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		t.Fatal(err)
	}
	p := mapParked(t, f)
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStopWaitsForWriters$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	cmd.ExtraFiles = []*os.File{f}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer func() {
		atomic.StoreUint32(&p.leave, 1)
		cmd.Process.Kill()
	}()
	mapped := func() bool {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cmd.Process.Pid))
		// Of the trace, or of the hot file.
		return err == nil && (bytes.Contains(maps, []byte(dir)) || bytes.Contains(maps, []byte("/dev/shm/scopeview-")))
	}
	for atomic.LoadUint32(&p.stopping) == 0 {
		select {
		case err := <-done:
			t.Fatalf("the child has ended: %v\n%s", err, &out)
		case <-time.After(time.Millisecond):
		}
	}
	// While the writer is inside, Stop must not finish. There is no event to
	// wait for; a Stop that does not wait takes a few ms.
	for t0 := time.Now(); time.Since(t0) < 200*time.Millisecond; time.Sleep(time.Millisecond) {
		if !mapped() {
			t.Fatalf("the chunks are not mapped any more\n%s", &out)
		}
		if atomic.LoadUint32(&p.stopped) != 0 {
			t.Fatal("Stop has returned with a writer inside the assembly")
		}
	}
	atomic.StoreUint32(&p.leave, 1)
	select {
	case err := <-done:
		if err != nil || atomic.LoadUint32(&p.stopped) == 0 {
			t.Errorf("the child: %v, Stop returned: %d\n%s", err, p.stopped, &out)
		}
	case <-time.After(20 * time.Second):
		t.Error("Stop does not return though the writer has left")
	}
}

// stopWithParkedWriter runs in the child.
func stopWithParkedWriter(t *testing.T, dir string) {
	p := mapParked(t, os.NewFile(3, "page"))
	if err := scope.Start(dir); err != nil {
		t.Fatal(err)
	}
	if got := scope.Stats().Recorder; got != "assembly path" {
		t.Logf("recording by the %s", got)
	}
	left := make(chan bool)
	go func() {
		defer close(left)
		scope.Task("before")()
		sys.Park(&p.inside, &p.leave)
		scope.Task("after")() // finds no recording
	}()
	for atomic.LoadUint32(&p.inside) == 0 {
		runtime.Gosched()
	}
	atomic.StoreUint32(&p.stopping, 1)
	if err := scope.Stop(); err != nil {
		t.Error(err)
	}
	atomic.StoreUint32(&p.stopped, 1)
	<-left
	if s := scope.Stats(); s.Recorded != 1 {
		t.Errorf("%d records, want the one before", s.Recorded)
	}
}
