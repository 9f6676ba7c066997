package count

import "github.com/scopeview/scopeview/internal/advice/row"

// Values of a pool.
const (
	poolGets = own + iota
	poolMisses
	poolPuts
	poolNS // of New
)

// usePool handles an operation on a sync.Pool: the pool, and for a Get whether New made the
// result, and its time in ns. The pool's row is that of its first Get.
func usePool(e row.Event, a *[8]uintptr, weight int64, pcs []uintptr) {
	t := c.tables[row.Pool]
	s, head := t.enter(a[0])
	if s == nil {
		return
	}
	if x := t.find(head, a[0]); x != nil {
		x.pool(e, a, weight)
		s.leave()
		return
	}
	s.leave()
	if e != row.PoolGet {
		return
	}
	if x, ok := born(row.Pool, a[0], 0, 1, pcs); ok {
		x.pool(e, a, weight)
		t.put(&x, &c.rows)
	}
}

// pool counts an operation on a pool.
func (x *inst) pool(e row.Event, a *[8]uintptr, weight int64) {
	if e == row.PoolPut {
		x.v[poolPuts] += weight
		return
	}
	x.v[poolGets] += weight
	if a[1] != 0 {
		x.v[poolMisses] += weight
		x.v[poolNS] += weight * int64(a[2])
	}
}

// foldPool adds a pool to its row.
func foldPool(x *inst, t *tally) {
	add(t, row.Made, x.weight)
	for i, v := range [...]row.Value{row.Gets, row.Misses, row.Puts, row.NS} {
		add(t, v, x.weight*x.v[poolGets+i])
	}
}
