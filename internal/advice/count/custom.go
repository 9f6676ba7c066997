package count

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/custom"
	"github.com/scopeview/scopeview/internal/advice/row"
)

// Custom containers call these functions on a goroutine that is not pinned: the invariants
// in the package's comment hold from pin on.

// Values of a custom container.
const (
	customMoved    = own + iota // elements
	customOutgrown              // bytes
	customPeak                  // largest number of elements
	customGets
	customMisses
	customPuts
	customDeletes
	customProbes
	customMost  // largest number of places probed
	customChain // longest chain, and its bucket: see row.MaxChain
	customTable // it is a hash table
)

// maxNames is the maximum number of container names.
const maxNames = 1 << 10

// customs are the names of custom containers: a row has the name's number as its type.
var customs struct {
	sync.Mutex
	names  []string
	number map[string]uintptr
	stacks map[[Depth]uintptr][]uintptr
}

// customNumbers is the last container's number.
var customNumbers atomic.Uint64

// customNamed returns the number of a name, from 1; 0 if there are too many.
func customNamed(name string) uintptr {
	customs.Lock()
	defer customs.Unlock()
	n, ok := customs.number[name]
	if !ok && len(customs.names) < maxNames {
		if customs.number == nil {
			customs.number = map[string]uintptr{}
		}
		customs.names = append(customs.names, name)
		n = uintptr(len(customs.names))
		customs.number[name] = n
	}
	return n
}

// customName returns the name of a number: "" for 0.
func customName(n uintptr) string {
	customs.Lock()
	defer customs.Unlock()
	if n == 0 || int(n) > len(customs.names) {
		return ""
	}
	return customs.names[n-1]
}

// customStack reduces a call stack of runtime.Callers to the form of the runtime's stacks:
// of functions inlined into each other only the innermost, which stands for all.
func customStack(pcs []uintptr) []uintptr {
	var key [Depth]uintptr
	copy(key[:], pcs)
	customs.Lock()
	defer customs.Unlock()
	if stack, ok := customs.stacks[key]; ok {
		return stack
	}
	var stack []uintptr
	for i := 0; i < len(pcs); {
		stack = append(stack, pcs[i])
		for all := runtime.CallersFrames([]uintptr{pcs[i], 1}); ; {
			i++
			if _, more := all.Next(); !more {
				break
			}
		}
	}
	if customs.stacks == nil {
		customs.stacks = map[[Depth]uintptr][]uintptr{}
	}
	if len(customs.stacks) < maxSites {
		customs.stacks[key] = stack
	}
	return stack
}

// bornCustom begins to follow a container.
func bornCustom(above int, s *custom.Spec) uintptr {
	if !on.Load() {
		return 0
	}
	var pcs [Depth]uintptr
	n := runtime.Callers(above+2, pcs[:]) // runtime.Callers itself, and this function
	name, stack, number := customNamed(s.Name), customStack(pcs[:n]), uintptr(customNumbers.Add(1))
	pin()
	defer unpin()
	x, ok := born(row.Custom, number, name, 1, stack)
	if !ok {
		return 0
	}
	x.v[elem], x.v[capacity] = int64(max(s.SlotBytes, 0)), int64(max(s.Slots, 0))
	if x.v[elem] == 0 {
		x.v[elem] = 8
	}
	if s.Hinted {
		x.v[hint] = x.v[capacity]
	}
	if s.Table {
		x.v[customTable] = 1
	}
	c.tables[row.Custom].put(&x, &c.rows)
	return number
}

// reportCustom handles an operation on a container.
func reportCustom(number uintptr, op custom.Op, first, second, third int) {
	if !on.Load() {
		return
	}
	pin()
	defer unpin()
	t := c.tables[row.Custom]
	if op == custom.End {
		if x, ok := t.take(number); ok {
			t.died(&x, &c.rows)
		}
		return
	}
	s, head := t.enter(number)
	if s == nil {
		return
	}
	if x := t.find(head, number); x != nil {
		x.custom(op, int64(first), int64(second), int64(third))
	}
	s.leave()
}

func (x *inst) custom(op custom.Op, first, second, third int64) {
	switch op {
	case custom.Grow:
		x.v[grown]++
		x.v[customMoved] += third
		x.v[customOutgrown] += first * x.v[elem]
		x.v[capacity] = second
		return
	case custom.Chain:
		x.v[customChain] = max(x.v[customChain], row.Chain(second, first))
		return
	case custom.Get:
		x.v[customGets]++
	case custom.Miss:
		x.v[customGets]++
		x.v[customMisses]++
	case custom.Put:
		x.v[customPuts]++
	case custom.Delete:
		x.v[customDeletes]++
	}
	x.v[customProbes] += first
	x.v[customMost] = max(x.v[customMost], first)
	if op == custom.Put || op == custom.Delete {
		x.v[length] = second
		x.v[customPeak] = max(x.v[customPeak], second)
	}
}

// foldCustom adds a container to its row. Its number of elements is its peak.
func foldCustom(x *inst, t *tally) {
	w := x.weight
	fold(x, t, x.v[customPeak], true)
	most(t, row.MaxCap, x.v[capacity])
	add(t, row.CapBytes, w*x.v[capacity]*x.v[elem])
	add(t, row.LenBytes, w*x.v[customPeak]*x.v[elem])
	for _, p := range [...]struct {
		v    row.Value
		from int
	}{{row.Moved, customMoved}, {row.GrownBytes, customOutgrown}, {row.Gets, customGets}, {row.Misses, customMisses}, {row.Puts, customPuts},
		{row.Deletes, customDeletes}, {row.Probes, customProbes}, {row.Extra, customTable}} {
		add(t, p.v, w*x.v[p.from])
	}
	most(t, row.MaxProbes, x.v[customMost])
	most(t, row.MaxChain, x.v[customChain])
	see(t, row.Cap, x.v[capacity], w)
}

// listenToCustoms enables counting of custom containers.
func listenToCustoms() {
	custom.Listening.Store(&custom.Listener{Born: bornCustom, Report: reportCustom})
}
