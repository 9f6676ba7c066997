package count

import (
	"runtime"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/sys"
)

// channel has the memory layout of a channel.
type channel struct {
	_, size uintptr // number of elements, and capacity
	_, most uint16  // size of an element, and the peak in the padding after it
	typ     uintptr
}

func (c *channel) report(pcs []uintptr) (at uintptr) {
	at = sys.AddrOf(c)
	report(row.MakeChan, pcs, at, c.size, c.typ, sys.AddrOf(&c.most)-at, sys.AddrOf(&c.size)-at, sys.AddrOf(&c.typ)-at)
	return at
}

func holds(t *testing.T, r row.Row, want map[row.Value]int64) {
	t.Helper()
	for v, n := range want {
		if r.V[v] != n {
			t.Errorf("%v is %d, want %d", v, r.V[v], n)
		}
	}
}

// TestChan follows two channels: one with reported operations, and one whose memory is read.
func TestChan(t *testing.T) {
	rows := counting(t, all)
	used, seen := &channel{size: 10, typ: intType}, &channel{size: 100, most: 7, typ: intType}
	pcs := here()
	at := used.report(pcs)
	seen.report(pcs)
	const sender, receiver = 5 << 1, 6 << 1
	report(row.ChanSend, nil, at, 0, sender)
	report(row.ChanSend, nil, at, 1, sender)
	report(row.ChanSendWait, nil, at, 3, sender)
	report(row.ChanReceive, nil, at, 3, receiver)
	report(row.ChanReceiveWait, nil, at, 3, receiver|1) // in a select, which reports only waits
	report(row.ChanSend, nil, 0x9999, 0, sender)        // not followed
	used.most = 3
	r := only(t, rows(), row.Chan)
	runtime.KeepAlive(used)
	runtime.KeepAlive(seen)
	want := map[row.Value]int64{
		row.Made: 2, row.Hinted: 2, row.Puts: 2, row.Gets: 2, row.Waits: 2, row.Extra: 1, row.Extra2: 1, row.Extra3: 1, row.MaxElem: 8,
		row.MinHint: 10, row.MaxHint: 100, row.MaxCap: 100, row.CapBytes: 880, row.Watched: 1,
	}
	if runtime.GOOS == "linux" {
		want[row.Exact], want[row.MaxLen], want[row.WatchedLen], want[row.WatchedCap] = 2, 7, 80, 880
	}
	holds(t, r, want)
}

// TestChanGone: memory that now has another channel's capacity is not used.
func TestChanGone(t *testing.T) {
	rows := counting(t, all)
	c := &channel{size: 10, most: 7, typ: intType}
	c.report(here())
	c.size = 100
	r := only(t, rows(), row.Chan)
	runtime.KeepAlive(c)
	holds(t, r, map[row.Value]int64{row.Made: 1, row.Exact: 0, row.MaxLen: 0})
}

// TestAlternating: a goroutine that uses another channel in between does not run ahead.
func TestAlternating(t *testing.T) {
	rows := counting(t, all)
	asks, answers := &channel{typ: intType}, &channel{typ: intType}
	pcs := here()
	a, b := asks.report(pcs), answers.report(pcs)
	for range 10 {
		report(row.ChanSend, nil, a, 0, 5<<1)
		report(row.ChanReceive, nil, b, 0, 5<<1)
	}
	r := only(t, rows(), row.Chan)
	runtime.KeepAlive(asks)
	runtime.KeepAlive(answers)
	holds(t, r, map[row.Value]int64{row.Puts: 10, row.Gets: 10, row.Extra2: 0, row.Extra3: 0})
}

// TestRWMutex: a lock's row is the place that locks it most, and overlapping readers are
// counted.
func TestRWMutex(t *testing.T) {
	rows := counting(t, all)
	once, often := []uintptr{1, 2, 3}, here()
	const waits = ^uintptr(0) // one less than none
	report(row.WriteLock, once, 0x1000, 0, 5)
	for range 4 {
		report(row.WriteLock, often, 0x1000, 0, 5)
	}
	report(row.WriteLock, often, 0x1000, 2, 5)
	report(row.ReadLock, often, 0x1000, 1, 5)
	report(row.ReadLock, often, 0x1000, 3, 6)
	report(row.ReadLock, often, 0x1000, waits, 5)
	var found []row.Row
	for _, r := range rows() {
		if r.Kind == row.RWMutex {
			found = append(found, r)
		}
	}
	if len(found) != 1 || len(found[0].Stack) != len(often) {
		t.Fatalf("%+v", found)
	}
	holds(t, found[0], map[row.Value]int64{row.Made: 1, row.Unseen: 1, row.Puts: 6, row.Gets: 3, row.Extra: 1, row.Waits: 2, row.Extra2: 1})
}

// TestSyncMap: stores of new keys are distinguished from others, and the main user of the
// map from all others.
func TestSyncMap(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	report(row.SyncGet, pcs, 0x1000, 1, 9)
	for range 5 {
		report(row.SyncPut, pcs, 0x1000, 0, 5)
	}
	report(row.SyncPut, pcs, 0x1000, 1, 5)
	report(row.SyncDelete, pcs, 0x1000, 1, 6)
	report(row.SyncRange, pcs, 0x1000, 1, 5)
	holds(t, only(t, rows(), row.SyncMap), map[row.Value]int64{
		row.Made: 1, row.Gets: 1, row.Puts: 6, row.Extra: 5, row.Deletes: 1, row.Iterations: 1, row.Extra2: 3, // the first user is replaced
	})
}

// TestGoroutine: goroutines that waited, and those without times, are counted separately.
func TestGoroutine(t *testing.T) {
	rows := counting(t, all)
	pcs := here()
	for key := range uintptr(5) {
		report(row.MakeGo, pcs, key+1)
	}
	report(row.EndGo, nil, 1, 100, 0, 1)
	report(row.EndGo, nil, 2, 100, 3, 1)
	report(row.EndGo, nil, 3, 0, 0, 0)
	report(row.EndGo, nil, 77, 100, 0, 1) // not followed
	r := only(t, rows(), row.Goroutine)
	holds(t, r, map[row.Value]int64{row.Made: 5, row.Watched: 4, row.Waits: 1}) // two are running
	if n := r.H[row.Len][row.Bucket(100)]; n != 1 || r.Quantile(row.Len, 1) > 111 {
		t.Errorf("%d ran for 100 ns, want 1; the longest ran for %d ns", n, r.Quantile(row.Len, 1))
	}
}
