package waits

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/symbols"
)

// TestSites sums up waits by place; stacks are written leaf first.
func TestSites(t *testing.T) {
	stacks := []string{
		1:  "sync.(*Mutex).Lock main.(*store).get main.main",
		2:  "sync.(*Mutex).Unlock main.(*store).put main.main",
		3:  "runtime.chanrecv1 main.worker",
		4:  "runtime.chansend1 main.feed main.main",
		5:  "sync.(*WaitGroup).Wait golang.org/x/sync/errgroup.(*Group).Wait main.main",
		6:  "sync.(*Mutex).Lock github.com/scopeview/scopeview/scope.(*lockState).wait github.com/scopeview/scopeview/scope.(*Mutex).Lock main.main",
		7:  "sync.(*Mutex).Lock github.com/scopeview/scopeview/scope.lock main.main",
		8:  "runtime.selectgo github.com/scopeview/scopeview/flusher.(*Flusher).run",
		9:  "runtime.selectgo compress/gzip.NewWriterLevel runtime/pprof.profileWriter",
		10: "runtime.gopark runtime.bgsweep",
		12: "sync.(*WaitGroup).Add sync.(*WaitGroup).Done sync.(*WaitGroup).Go.func1",
		11: "internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.(*store).put main.main",
	}
	frames := func(id uint32) (list []*symbols.Frame) {
		for _, f := range strings.Fields(stacks[id]) {
			list = append(list, &symbols.Frame{Func: f, File: "x.go", Line: len(f)})
		}
		return list
	}
	p := sites{}
	for _, v := range []states.Interval{
		{State: states.Lock, From: 0, To: 10, Stack: 1, By: 2, ByStack: 2},
		{State: states.Lock, From: 20, To: 50, Stack: 1, By: 2, ByStack: 2},
		{State: states.Lock, From: 20, To: 25, Stack: 1},
		{State: states.Lock, From: 20, To: 21, Stack: 11, By: 1, ByStack: 2},
		{State: states.Channel, From: 0, To: 100, Stack: 3, By: 1, ByStack: 4},
		{State: states.Join, From: 0, To: 7, Stack: 5, By: 1, ByStack: 10},
		{State: states.Join, From: 0, To: 2, Stack: 5, By: 1, ByStack: 12},
		{State: states.Lock, From: 0, To: 1000, Stack: 6, By: 1, ByStack: 2},
		{State: states.Lock, From: 0, To: 1000, Stack: 7, By: 1, ByStack: 2},
		{State: states.Select, From: 0, To: 1000, Stack: 8},
		{State: states.Select, From: 0, To: 1000, Stack: 9},
		{State: states.Channel, From: 0, To: 1000, Stack: 10},
		{State: states.CPU, From: 0, To: 1000, Stack: 3},
		{State: states.Sleep, From: 0, To: 1000, Stack: 3},
		{State: states.Channel, From: 0, To: 1000},
	} {
		if blocks(&v) {
			p.add(&v, v.To-v.From)
		}
	}
	var got []string
	for _, b := range p.list(frames) {
		line := fmt.Sprintf("%v %s %d×=%d, %d at %d:", b.state, b.site.Func, b.count, b.total, b.max, b.stack)
		for _, w := range b.wokenBy {
			line += fmt.Sprintf(" %s %d×=%d", w.site.Func, w.count, w.time)
		}
		got = append(got, line)
	}
	want := []string{
		"channel main.worker 1×=100, 100 at 3: main.feed 1×=100",
		"lock main.(*store).get 3×=45, 30 at 1: main.(*store).put 2×=40  1×=5",
		"join main.main 2×=9, 7 at 5: runtime.bgsweep 1×=7 sync.(*WaitGroup).Go.func1 1×=2",
		"lock main.(*store).put 1×=1, 1 at 11: main.(*store).put 1×=1",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestManyStacks: memory is bounded, and waits at further stacks are reported without their site.
func TestManyStacks(t *testing.T) {
	p := sites{}
	const n = maxStacks + 100
	for i := range n {
		p.add(&states.Interval{State: states.Channel, Stack: uint32(i + 1)}, 1)
	}
	frames := func(uint32) []*symbols.Frame { return []*symbols.Frame{{Func: "main.main"}} }
	var total int64
	list := p.list(frames)
	for _, b := range list {
		total += b.total
	}
	if total != n || len(list) != 2 || len(p) > maxStacks+1 {
		t.Errorf("%d sites with %d ns, want 2 with %d", len(list), total, n)
	}
}
