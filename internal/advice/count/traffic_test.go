package count

import (
	"math/rand"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// notes records loads and stores for a test, as the runtime does.
type notes struct {
	*traffic
	t    *testing.T
	now  uintptr
	rows func() []row.Row
}

// onLine returns the address of cache line i in mapped.
func onLine(i int) uintptr { return (sys.AddrOf(&mapped[0])+63)&^63 + uintptr(64*i) }

// set stores an address at an address in mapped.
func set(at, to uintptr) { mapped[(at-sys.AddrOf(&mapped[0]))/8] = uint64(to) }

func noted(t *testing.T) *notes {
	t.Helper()
	control = nil // of an earlier test: only the test examines accesses
	b := &notes{traffic: new(traffic), t: t, rows: counting(t, all)}
	control = new([8]uintptr)
	// mapped consists of objects of 64 bytes.
	Objects(func(addr uintptr) (base, size uintptr) {
		if addr-onLine(0) >= uintptr(8*len(mapped)) {
			return 0, 0
		}
		return addr &^ 63, 64
	})
	b.init()
	b.procs = max(b.procs, 2)
	t.Cleanup(func() {
		control = nil
		Objects(func(uintptr) (base, size uintptr) { return 0, 0 })
	})
	if b.traffic.procs < 2 || len(b.buffers) < 2*b.stride {
		t.Skip("needs two processors")
	}
	return b
}

// note records an access of a goroutine on a processor.
func (b *notes) note(proc int, goroutine, addr, pc, size uintptr, store uintptr) {
	b.t.Helper()
	head := b.buffers[proc*b.stride:]
	n := int(head[0])
	if n == b.room {
		b.t.Fatal("a test notes more than there is room for")
	}
	b.now++
	copy(head[headWords+n*accessWords:], []uintptr{b.now, addr, pc, goroutine<<16 | size<<1 | store, 0})
	head[0]++
}

func (b *notes) load(proc int, goroutine, addr, pc uintptr)  { b.note(proc, goroutine, addr, pc, 8, 0) }
func (b *notes) store(proc int, goroutine, addr, pc uintptr) { b.note(proc, goroutine, addr, pc, 8, 1) }

// row returns the only row of a kind, whose accesses represent ten each.
func (b *notes) row(k row.Kind) row.Row {
	b.t.Helper()
	b.burst++ // as if there had been one before
	b.look(10 * float64(b.buffers[0]+b.buffers[b.stride]))
	return only(b.t, b.rows(), k)
}

// none checks that there are no rows of these kinds.
func (b *notes) none(kinds ...row.Kind) {
	b.t.Helper()
	b.look(10 * float64(b.buffers[0]+b.buffers[b.stride]))
	for _, r := range b.rows() {
		for _, k := range kinds {
			if r.Kind == k {
				b.t.Errorf("a row of what is none: %+v", r.V)
			}
		}
	}
}

func (b *notes) values(r row.Row, want map[row.Value]int64) {
	b.t.Helper()
	for v, n := range want {
		if r.V[v] != n {
			b.t.Errorf("%v: %d, want %d", v, r.V[v], n)
		}
	}
}

// TestFalseSharing: two goroutines store to different words of one line alternately. Each
// access but the first misses, unnecessarily.
func TestFalseSharing(t *testing.T) {
	b, pc := noted(t), here()[0]
	for range 101 {
		for p := range 2 {
			b.store(p, uintptr(p+1), onLine(0)+uintptr(8*p), pc)
		}
	}
	r := b.row(row.Line)
	// The first access of each processor loads the line for the first time.
	b.values(r, map[row.Value]int64{row.Misses: 1990, row.Contended: 0, row.Shared: 0, row.Puts: 2010, row.Gets: 0, row.MaxLen: 2, row.MaxCap: 2, row.MaxElem: 64, row.Made: 1, row.Waits: 0})
}

// TestSharedElement: they store to the same word, atomically.
func TestSharedElement(t *testing.T) {
	b, pc := noted(t), here()[0]
	for range 101 {
		for p := range 2 {
			b.note(p, uintptr(p+1), onLine(0), pc, atomicSize, 1)
		}
	}
	r := b.row(row.Line)
	b.values(r, map[row.Value]int64{row.Misses: 0, row.Contended: 1990, row.Waits: 1990})
	if r.V[row.Shared] < 1900 {
		t.Errorf("%d accesses to bytes that both use", r.V[row.Shared])
	}
}

// TestLinesAreQuiet: there are no misses of lines that are only read, that one goroutine
// uses on changing processors, or that are not shared.
func TestLinesAreQuiet(t *testing.T) {
	b, pc := noted(t), here()[0]
	for i := range 100 {
		for p := range 2 {
			b.load(p, uintptr(p+1), onLine(0)+uintptr(8*p), pc)
			b.store(p, 3, onLine(1), pc)
			b.store(p, uintptr(p+1), onLine(2+p), pc)
		}
		if i%50 == 0 {
			b.store(i&1, 1, onLine(0), pc)
		}
	}
	b.none(row.Line)
}

// TestFar: nodes in random order, linked, or accessed by pointers in an array, or by
// neither.
func TestFar(t *testing.T) {
	const n = 1000
	order := rand.New(rand.NewSource(1)).Perm(n)
	at := func(i int) uintptr { return onLine(1000 + 3*order[i%n]) }
	for name, c := range map[string]struct {
		walk func(b *notes, i int, pc uintptr)
		want row.Value
	}{
		"linked":  {func(b *notes, i int, pc uintptr) {}, row.Chased},
		"array":   {func(b *notes, i int, pc uintptr) { b.load(0, 1, onLine(0)+uintptr(8*i), pc) }, row.Pointed},
		"neither": {func(b *notes, i int, pc uintptr) {}, row.Placed},
	} {
		t.Run(name, func(t *testing.T) {
			b, pc := noted(t), here()[0]
			for i := range n {
				set(onLine(0)+uintptr(8*i), at(i))
				if name == "linked" {
					set(at(i), at(i+1))
				} else {
					set(at(i), 0)
				}
			}
			for i := range n {
				c.walk(b, i, pc+1)
				b.load(0, 1, at(i), pc)
			}
			b.look(10 * float64(b.buffers[0]))
			var r row.Row
			for _, x := range b.rows() {
				if x.Kind == row.Scan {
					r = x
				}
			}
			for _, v := range []row.Value{row.Chased, row.Pointed, row.Placed} {
				if few := r.V[v] < 8*n; few != (v != c.want) {
					t.Errorf("%v: %d of %d", v, r.V[v], 10*n)
				}
			}
			if r.V[row.MaxLen] < n*9/10 || r.V[row.MaxLen] > 2*n {
				t.Errorf("%d lines, and there are %d", r.V[row.MaxLen], n)
			}
		})
	}
}

// TestNear: consecutive addresses are not far.
func TestNear(t *testing.T) {
	b, pc := noted(t), here()[0]
	for i := range 1000 {
		b.load(0, 1, onLine(i), pc)
		b.load(0, 2, onLine(1+i&1), pc)
	}
	b.none(row.Scan)
}

// TestSearchLoop: loops over one slice that end at different places are searches; those that
// end at its end, and those over several slices, are not.
func TestSearchLoop(t *testing.T) {
	loops := func(b *notes, pc uintptr, from func(i int) uintptr, steps func(i int) int) {
		for i := range 21 {
			for k := range steps(i) {
				b.load(0, 1, from(i)+uintptr(16*k), pc)
			}
		}
	}
	same := func(int) uintptr { return onLine(0) }
	b, pc := noted(t), here()[0]
	loops(b, pc, same, func(i int) int { return 50 + 10*(i%5) })
	r := b.row(row.Search)
	// The end of the last one is not seen: it counts in proportion.
	b.values(r, map[row.Value]int64{row.Made: 200, row.MaxLen: 90, row.Compared: 10 * (4*(50+60+70+80+90) + 50), row.MaxElem: 16, row.SearchedAgain: 200, row.SearchedIn: 1})
	b = noted(t)
	loops(b, pc, same, func(int) int { return 50 })
	b.none(row.Search)
	b = noted(t)
	loops(b, pc, func(i int) uintptr { return onLine(100 * i) }, func(i int) int { return 50 + 10*(i%5) })
	b.none(row.Search)
}

// TestShiftSlice: copies that move elements up or down in their array.
func TestShiftSlice(t *testing.T) {
	b := noted(t)
	at := onLine(0) // an object of 64 bytes: 8 words
	report(row.ShiftSlice, here(), at+8, at, 40, 8)
	report(row.ShiftSlice, here(), at+16, at+24, 16, 8)
	report(row.ShiftSlice, here(), at, at, 16, 8)                                                 // nothing moves
	report(row.ShiftSlice, here(), sys.AddrOf(&b.buffers[0])+8, sys.AddrOf(&b.buffers[0]), 16, 8) // not in the heap
	rows := b.rows()
	var sum row.Row
	for _, r := range rows {
		if r.Kind == row.Shift {
			sum.Stats.Add(&r.Stats)
		}
	}
	b.values(sum, map[row.Value]int64{row.Made: 2, row.Puts: 1, row.Deletes: 1, row.Front: 1, row.Middle: 1, row.Moved: 7, row.Copied: 56, row.MaxLen: 6, row.MaxElem: 8})
}
