//go:build !scope_off

package hooks

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

const mutex, receive = uint64(format.LockMutex) << 8, uint64(format.LockReceive) << 8

// calls makes the calls of the standard library: two goroutines wait for a mutex, one of them gets
// it and releases it while the other waits.
func calls() {
	const addr = 0x2000
	a1, b1, c1 := park(addr, 0, 0, 0)
	a2, b2, c2 := wait(addr, mutex)
	spin()
	unlock(addr, mutex) // by the goroutine that got it without waiting
	a1, b1, c1 = park(addr, a1, b1, c1)
	spin()
	waited(addr, mutex, a1, b1, c1)
	spin()
	unlock(addr, mutex)
	waited(addr, mutex, a2, b2, c2)
	blocked(0x2000, receive, 5000, 0)
	made(77, here, 0) // a function of the recorder, and so not named
	a, b := test("TestX", -1)
	tested(a, b, "pass")
	a, b = test("BenchmarkX", 10)
	tested(a, b, "fail")
	a, b = test("", -1)
	tested(a, b, "")
	_, a, b = request(context.Background(), "GET", "", "/users/7", "id", "", nil)
	responded(a, b, "GET /users/{id}", 200, false)
	_, a, b = request(context.Background(), "POST", "POST /x", "/x", "", "", nil)
	responded(a, b, "", 0, true)
}

// spin takes longer than the channel's reported wait; otherwise holds would come in another order.
func spin() {
	for range 30000 {
		runtime.KeepAlive(1)
	}
}

// here is the entry of a function of this package.
var here = func() uintptr {
	pc, _, _, _ := runtime.Caller(1)
	return runtime.FuncForPC(pc).Entry()
}()

// TestOff: without a recording the hooks do nothing, before one and after it.
func TestOff(t *testing.T) {
	calls()
	if n := testing.AllocsPerRun(100, calls); n != 0 {
		t.Errorf("%v allocations without a recording", n)
	}
}

// TestCalls: the standard library's calls leave records. Waits are named by the nearest place
// outside of the recorder, which here is in package testing.
func TestCalls(t *testing.T) {
	var oneOf uint32
	thinOut(&oneOf)
	if oneOf == 0 {
		t.Error("channels are looked at without a recording")
	}
	var bytes uint64
	inHeap(&bytes)
	if bytes != 0 {
		t.Errorf("without a recording %d bytes of the heap are its", bytes)
	}
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path, scope.WithFilter("-BenchmarkX"))
	record.SetHookShares(1e6, 1e6, 1e6)
	defer record.SetHookShares(5000, 5000, 5000)
	if oneOf != 0 {
		t.Errorf("of channels one in 1<<%d is looked at", oneOf)
	}
	if bytes == 0 {
		t.Error("nothing of the heap is the recording's")
	}
	calls()
	end()
	if oneOf == 0 {
		t.Error("channels are looked at after the recording")
	}
	calls()
	tr := tracetest.OpenFile(t, path)
	var got []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		name, place, _ := strings.Cut(tr.Name(e.Name), " testing.go:") // the line depends on Go's version
		if _, kind, ok := strings.Cut(place, " "); ok {
			name += " " + kind
		}
		got = append(got, e.Kind.String()+" "+name)
	}
	want := "hold testing.tRunner\nwait testing.tRunner\nwait testing.tRunner\nhold testing.tRunner\nwait testing.tRunner (receive)\ntrack TestX\ntask TestX\ntrack BenchmarkX\ntask parallel pause\ntask GET /users/…\ntask POST /x"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
