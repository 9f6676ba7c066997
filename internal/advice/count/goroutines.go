package count

import "github.com/scopeview/scopeview/internal/advice/row"

// Values of a goroutine.
const (
	running = own + iota // ns
	parked               // number of waits
	ended
	untimed // it had no place in the runtime's table
)

// makeGo handles the creation of a goroutine: a number that its end has, too.
func makeGo(a *[8]uintptr, weight int64, pcs []uintptr) {
	if x, ok := born(row.Goroutine, a[0], 0, weight, pcs); ok {
		c.tables[row.Goroutine].put(&x, &c.rows)
	}
}

// endGo handles the end of a goroutine: its number, running time, number of waits, and
// whether these are known.
func endGo(a *[8]uintptr) {
	t := c.tables[row.Goroutine]
	x, ok := t.take(a[0])
	if !ok {
		return
	}
	x.v[running], x.v[parked], x.v[ended], x.v[untimed] = int64(a[1]), int64(a[2]), 1, 1-int64(a[3])
	t.died(&x, &c.rows)
}

// foldGo adds a goroutine to its row.
func foldGo(x *inst, t *tally) {
	w := x.weight
	add(t, row.Made, w)
	if x.v[untimed] != 0 {
		return
	}
	add(t, row.Watched, w)
	switch {
	case x.v[parked] > 0:
		add(t, row.Waits, w)
	case x.v[ended] != 0:
		see(t, row.Len, x.v[running], w)
	}
}
