package tracetest

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// MaxMemory returns the maximum memory, beyond the file itself, for reading any file of size
// bytes.
func MaxMemory(size int64) int64 { return 8*size + 1<<20 }

// MaxTime returns the maximum CPU time for it: a second for each MiB begun.
func MaxTime(size int64) time.Duration { return time.Duration(size>>20+1) * time.Second }

// Frugal runs f, which reads a file of size bytes, and fails t if it takes more memory or
// time than allowed. It returns both; the memory is 0 if it is too little to be measured, or
// cannot be measured: see InChild, and make fuzz.
//
// The sum of all allocations of f bounds its memory. If that is too much, f runs again while
// the live memory is measured. If it took too long, it runs again too, and the minimum
// counts. So f must be repeatable.
func Frugal(t testing.TB, what string, size int64, f func()) (memory int64, took time.Duration) {
	t.Helper()
	return FrugalTimes(t, what, size, 1, f)
}

// emulated reports that this processor is emulated, so that times mean nothing.
var emulated bool

// FrugalTimes is Frugal with a multiple of the memory.
func FrugalTimes(t testing.TB, what string, size, times int64, f func()) (memory int64, took time.Duration) {
	t.Helper()
	if emulated {
		f()
		return 0, 0
	}
	most := times * MaxMemory(size)
	before, start := read(allocated), worked()
	f()
	took = worked() - start
	if stopped && read(allocated)-before > most {
		if memory = peak(f); memory > most {
			t.Errorf("%s: %d bytes of memory for a file of %d bytes, at most %d are allowed", what, memory, size, most)
		}
	}
	for range 2 { // slow code is slow each time; interference of the runtime is not
		if took > MaxTime(size)*slowdown {
			start = worked()
			f()
			took = min(took, worked()-start)
		}
	}
	if took > MaxTime(size)*slowdown {
		t.Errorf("%s: %v for a file of %d bytes, at most %v are allowed", what, took, size, MaxTime(size)*slowdown)
	}
	return memory, took
}

// stopTheWorld is the GODEBUG setting for stop-the-world collection. Otherwise, memory
// allocated during a collection counts as live, which can exceed all else.
const stopTheWorld = "gcstoptheworld=1"

var stopped = strings.Contains(os.Getenv("GODEBUG"), stopTheWorld)

// InChild runs test t again in a process with stop-the-world garbage collection, and returns
// false; in that process it returns true. If no process can be started (in an emulator) it
// returns true at once, and nothing is measured. With the race detector the test is skipped.
func InChild(t *testing.T) bool {
	t.Helper()
	if slowdown > 1 {
		t.Skip("what reading takes is measured without the race detector")
	}
	if stopped {
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	if d, ok := t.Deadline(); ok { // the rest is for reporting
		args = append(args, "-test.timeout="+(time.Until(d)*9/10).Round(time.Second).String())
	}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "GODEBUG="+stopTheWorld)
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		emulated = true
		return true
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "=== ") && !strings.Contains(line, "--- PASS") && line != "PASS\n" {
			lines = append(lines, line)
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, strings.Join(lines, ""))
	} else if _, numbers, ok := strings.Cut(strings.Join(lines, ""), ": G"); ok {
		t.Log("G" + strings.TrimSpace(numbers))
	}
	return false
}

// Names of runtime/metrics.
const (
	allocated = "/gc/heap/allocs:bytes" // since the start of the program
	live      = "/gc/heap/live:bytes"   // what the last collection found
)

func read(name string) int64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// collected is an object that is collected at once; it is not so small that it shares its
// memory with others.
type collected struct{ _ [4]*int }

// peak is the most that was live at once while f ran, beyond what was before. It is measured
// at each garbage collection, of which there is one whenever the heap has grown by a
// tenth, or 400 KB.
func peak(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	runtime.GC()
	runtime.GC() // what had finalizers
	before := read(live)
	var most atomic.Int64
	var over atomic.Bool
	look := func() {
		if n := read(live); n > most.Load() {
			most.Store(n)
		}
	}
	var again func(*collected)
	again = func(*collected) {
		look()
		if !over.Load() {
			runtime.SetFinalizer(new(collected), again)
		}
	}
	runtime.SetFinalizer(new(collected), again)
	f()
	over.Store(true)
	look()
	return max(most.Load()-before, 0)
}
