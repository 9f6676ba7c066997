package outside

import (
	"runtime"

	"github.com/scopeview/scopeview/internal/unwind"
)

// text is the code that a process has mapped. Addresses are the process's.
type text struct {
	*space
	objects *objects
}

// at returns the file that contains an address, the address in its tables, and the difference
// between the two; ok is false if the code is unknown.
func (t text) at(pc uint64) (x *object, addr, base uint64, ok bool) {
	c := t.find(pc)
	if c == nil {
		return nil, 0, 0, false
	}
	x = t.objects.placed(c).object
	if addr, ok = x.addr(c.offset + pc - c.from); !ok || x.code == nil {
		return nil, 0, 0, false
	}
	return x, addr, pc - addr, true
}

func (t text) Arch() string { return runtime.GOARCH }

func (t text) Function(pc uint64) (from, to uint64, ok bool) {
	x, addr, base, ok := t.at(pc)
	if !ok {
		return 0, 0, false
	}
	from, to, ok = x.code.Function(addr)
	return from + base, to + base, ok
}

func (t text) Code(pc uint64, n int) []byte {
	x, addr, _, ok := t.at(pc)
	if !ok {
		return nil
	}
	return x.code.Code(addr, n)
}

func (t text) Stub(pc uint64) bool {
	x, addr, _, ok := t.at(pc)
	return ok && x.code.Stub(addr)
}

func (t text) Begin(pc uint64) bool {
	x, addr, _, ok := t.at(pc)
	return ok && x.code.Begin(addr)
}

func (t text) Rule(pc uint64) unwind.Rule {
	x, addr, _, ok := t.at(pc)
	if !ok {
		return unwind.Rule{}
	}
	return x.code.Rule(addr)
}
