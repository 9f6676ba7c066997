package count

import "github.com/scopeview/scopeview/internal/advice/row"

// SmallIO is the size in bytes below which a read or write is small: copying them takes less
// time than the call.
const SmallIO = 512

// longestIO is the maximum time of a small call that counts, in ns: the rest is waiting.
const longestIO = 20_000

// useFile handles a read or write: its bytes, those requested, whether the previous
// operation on this file was of the same kind, and its time in ns.
func useFile(e row.Event, a *[8]uintptr, weight int64, pcs []uintptr) {
	k := row.Output
	if e == row.ReadFile {
		k = row.Input
	}
	n, asked, follows, ns := int64(a[0]), int64(a[1]), a[2] != 0, int64(a[3])
	t := use(k, 0, n, weight, pcs)
	if t == nil {
		return
	}
	add(t, row.LenBytes, weight*n)
	if follows && asked < SmallIO && n == asked {
		add(t, row.Small, weight)
		add(t, row.SmallBytes, weight*n)
		add(t, row.NS, weight*min(max(ns, 0), longestIO))
	}
}
