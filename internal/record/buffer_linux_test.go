//go:build !scope_off

package record_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	. "github.com/scopeview/scopeview/scope"
)

// TestWaitShare: the default buffer is a share of the scarcest memory, within limits.
func TestWaitShare(t *testing.T) {
	const mib, gib, none = 1 << 20, 1 << 30, math.MaxInt64
	for _, c := range []struct {
		name                       string
		tmpfs, machine, part, want int64
	}{
		{"much of everything", 64 * gib, 64 * gib, none, 448 * mib},
		{"a sixteenth of tmpfs", 4 * gib, 64 * gib, none, 256 * mib},
		{"a sixteenth of the machine", 64 * gib, 3 * gib, none, 192 * mib},
		{"what the machine has is not known", 4 * gib, none, none, 256 * mib},
		{"at least", 64 * mib, 64 * mib, none, 128 * mib},
		{"a container's part", 64 * gib, 64 * gib, 128 * mib, 128 * mib},
		{"a small container's", 64 * gib, 64 * gib, 32 * mib, 32 * mib},
		{"a large container's", 4 * gib, 64 * gib, 4 * gib, 256 * mib},
	} {
		if got := record.WaitShare(c.tmpfs, c.machine, c.part); got != c.want {
			t.Errorf("%s: %d MiB, want %d", c.name, got>>20, c.want>>20)
		}
	}
}

// bufferOf returns the buffer's size recorded in the trace.
func bufferOf(t *testing.T, path string) int64 {
	t.Helper()
	tr := tracetest.OpenFile(t, path)
	n, err := strconv.ParseInt(tr.Lookup("buffer"), 10, 64)
	if err != nil {
		t.Fatalf("the trace's buffer: %v", err)
	}
	return n
}

// TestWithBuffer: the recording has the requested buffer, and records its size; a size out of
// bounds is refused, with the bounds.
func TestWithBuffer(t *testing.T) {
	for _, n := range []int64{-1, 1, MinBuffer - 1, MaxBuffer + 1, math.MaxInt64} {
		err := Start(filepath.Join(t.TempDir(), "x.scope"), WithBuffer(n))
		if want := fmt.Sprintf("WithBuffer(%d): from 16 MiB to 4 GiB", n); !errors.Is(err, ErrOption) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("WithBuffer(%d): %v, want %q", n, err, want)
		}
	}
	if MinBuffer != 16<<20 || MaxBuffer != 4<<30 {
		t.Errorf("from %d to %d bytes", MinBuffer, MaxBuffer)
	}
	for _, kind := range []BackingKind{ShmBacking, HeapBacking} {
		for _, n := range []int64{MinBuffer, 449 << 20, MaxBuffer} {
			if kind == ShmBacking && !record.HaveDisk {
				continue
			}
			start(t, WithBacking(kind), WithBuffer(n))
			Task("a")()
			stop(t)
			// In a container it is at most a quarter of the memory.
			if got := bufferOf(t, Path()); got != n && (got > n || n == MinBuffer) {
				t.Errorf("%v: WithBuffer(%d) and the trace says %d", kind, n, got)
			}
		}
	}
}

// bufferChild in the environment makes the test binary a program that waits for a line and then
// records into that directory, with the defaults.
const bufferChild = "SCOPE_BUFFER_CHILD"

// TestBufferInContainer: by default at most a sixteenth of a container's memory may wait,
// whatever /dev/shm and the machine have.
func TestBufferInContainer(t *testing.T) {
	if dir := os.Getenv(bufferChild); dir != "" {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		err := Start(filepath.Join(dir, "x.scope"))
		Task("a")()
		fmt.Println(errors.Join(err, Stop()))
		os.Exit(0)
	}
	faultfs.Children(t)
	if !record.HaveDisk {
		t.Skip("this build has no hot files: " + record.NoDisk)
	}
	for _, limit := range []int64{512 << 20, 2 << 30, 3 << 30} {
		t.Run(fmt.Sprint(limit>>20), func(t *testing.T) {
			dir := t.TempDir()
			m := faultfs.MemoryGroup(t, limit)
			cmd := exec.Command(os.Args[0], "-test.run=^TestBufferInContainer$")
			cmd.Env = append(os.Environ(), bufferChild+"="+dir)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			m.Add(t, cmd.Process.Pid)
			_, _ = io.WriteString(in, "in\n")
			if err := cmd.Wait(); err != nil || !strings.HasPrefix(out.String(), "<nil>") {
				t.Fatalf("%v: %s", err, &out)
			}
			if got := bufferOf(t, filepath.Join(dir, "x.scope")); got > limit/16 || got < min(limit/16, 128<<20) {
				t.Errorf("of %d MiB %d may wait, want a sixteenth at most", limit>>20, got>>20)
			}
		})
	}
}

// TestG17Burst records 20 million scopes as fast as all processors can. Records that the buffer
// can't hold are counted as lost by it, with its size; a buffer of a gibibyte loses none.
func TestG17Burst(t *testing.T) {
	if !faultfs.Full() || sys.Race || !record.HaveDisk {
		t.Skip("20 million scopes, in full, on the assembly path")
	}
	n, workers := 20_000_000, runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		name string
		opts []Option
	}{
		{"default", nil}, {"128 MiB", []Option{WithBuffer(128 << 20)}}, {"1 GiB", []Option{WithBuffer(1 << 30)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start(t, append(c.opts, WithLimit(NoLimit))...)
			if b := record.Current.Load().Pool().Backing(); b != format.BackingShm {
				t.Skip("the backing is ", b)
			}
			begin := time.Now()
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range n / workers {
						Task("burst")()
					}
				})
			}
			wg.Wait()
			took := time.Since(begin).Round(time.Millisecond)
			finish(t)
			issued, s := int64(n/workers*workers), Stats()
			checkLosses(t, issued, format.LossBuffer)
			t.Logf("G17: a burst of %d scopes in %v on %d processors, a buffer of %d MiB: %d lost, %d chunks prepared late", issued, took, workers, bufferOf(t, Path())>>20, s.Lost.Total(), s.PreparedLate)
			if c.name == "1 GiB" && bufferOf(t, Path()) == 1<<30 && s.Lost != (Lost{}) {
				t.Errorf("lost %+v", s.Lost)
			}
		})
	}
}
