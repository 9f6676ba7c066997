package std

import "github.com/scopeview/scopeview/internal/advice/row"

// Hooks for advice on channels, locks, sync.Map and goroutines.

// queues stores the peak of a channel's queue in the channel, in two bytes of padding
// between the size of its elements and the next field: so it is available for all channels
// at any time, and costs a comparison.
var queues = code{dir: "runtime", imports: []string{"unsafe"}, text: `const scopeviewPeakAt = unsafe.Offsetof(hchan{}.elemsize) + unsafe.Sizeof(hchan{}.elemsize)

const scopeviewPeaks = unsafe.Offsetof(hchan{}.closed)-scopeviewPeakAt >= 2

func scopeviewPeak(c *hchan) *uint16 { return (*uint16)(add(unsafe.Pointer(c), scopeviewPeakAt)) }

func scopeviewQueued(c *hchan) {
	if scopeviewPeaks {
		if p := scopeviewPeak(c); c.qcount > uint(*p) {
			*p = uint16(min(c.qcount, 1<<16-1))
		}
	}
}

// scopeviewMadeChan reports a new channel, the offset in it of its peak length (0 if there is none), and
// the fields that identify its memory.
func scopeviewMadeChan(c *hchan, pc uintptr) {
	at := uintptr(0)
	if scopeviewPeaks {
		at = scopeviewPeakAt
	}
	scopeviewThin(` + number(row.MakeChan) + `, pc, uintptr(unsafe.Pointer(c.elemtype)), uintptr(unsafe.Pointer(c)), uintptr(c.dataqsiz), uintptr(unsafe.Pointer(c.elemtype)), at, unsafe.Offsetof(c.dataqsiz), unsafe.Offsetof(c.elemtype), 0)
}

// scopeviewChan reports an operation on a channel that is no timer's, and its goroutine. more is 1 if it
// counts both as a wait and as the operation.
func scopeviewChan(what uint32, c *hchan, more uintptr) {
	if c.timer == nil {
		scopeviewUse(what, uintptr(unsafe.Pointer(c)), uintptr(*scopeviewPeak(c)), uintptr(getg().goid)<<1|more)
	}
}`}

// chanUse returns the edits of a function that sends to, or receives from, one channel.
func chanUse(function string, use, wait row.Event) []edit {
	return []edit{
		{file: "runtime/chan.go", function: function, at: "var t0 int64",
			insert: "if scopeviewWatching != 0 && block { scopeviewChan(" + number(use) + ", c, 0) }; "},
		{file: "runtime/chan.go", function: function, at: "releaseSudog(mysg)", behind: true,
			insert: "; if scopeviewWatching != 0 { scopeviewChan(" + number(wait) + ", c, 0) }"},
	}
}

// some has the runtime's function that reports a sample of operations with their call stack
// and goroutine.
var some = code{dir: "runtime", text: `//go:linkname scopeviewSome
func scopeviewSome(what uint32, a0, a1 uintptr) {
	if cheaprand()&scopeviewMask == 0 {
		scopeviewReport(what, a0, a1, uintptr(getg().goid), 0, 0, 0, 0)
	}
}`}

// locking has package sync's functions that report its locks.
var locking = code{dir: "sync", imports: []string{"unsafe"}, text: `//go:linkname scopeviewSome runtime.scopeviewSome
func scopeviewSome(what uint32, a0, a1 uintptr)

func scopeviewReading(rw *RWMutex, r int32) {
	scopeviewSome(` + number(row.ReadLock) + `, uintptr(unsafe.Pointer(rw)), uintptr(r))
}

func scopeviewWriting(rw *RWMutex, r int32) {
	scopeviewSome(` + number(row.WriteLock) + `, uintptr(unsafe.Pointer(rw)), uintptr(r))
}`}

// mapping has the function that reports sync.Map's operations.
var mapping = code{dir: "sync", imports: []string{"unsafe"}, text: `func scopeviewMap(what uint32, m *Map, old bool) {
	if scopeviewWatching != 0 {
		is := uintptr(0)
		if old {
			is = 1
		}
		scopeviewSome(what, uintptr(unsafe.Pointer(m)), is)
	}
}`}

// syncMap returns an edit that replaces a statement of a method of sync.Map.
func syncMap(function, at, insert string) edit {
	return edit{file: "sync/map.go", function: "Map." + function, at: at, instead: true, insert: insert}
}

// mapReport returns the call that reports a method of sync.Map.
func mapReport(e row.Event, old string) string {
	return "scopeviewMap(" + number(e) + ", m, " + old + "); "
}

// following measures the running time of goroutines whose creation was reported, in a table
// by their number. One without a place in the table is reported as not measured.
var following = code{dir: "runtime", imports: []string{"internal/runtime/atomic"}, text: `type scopeviewRun struct {
	goid  atomic.Uint64 // 0: the entry is free
	key   uintptr       // identifies it in reports
	made  int64
	began int64 // to run, since it last waited
	ran   int64
	parks uintptr
}

var (
	scopeviewRuns [512]scopeviewRun
	scopeviewKeys atomic.Uintptr
)

// scopeviewMakesGo reports a sample of the goroutines created at a place of the code.
func scopeviewMakesGo(pc uintptr) (key uintptr) {
	place := uint32(uint64(pc) * 0x9e3779b97f4a7c15 >> 52)
	rate := scopeviewRates[place]
	if rate != 0 && cheaprand()&(1<<rate-1) != 0 {
		return 0
	}
	if gp := getg(); gp != gp.m.curg || gp.m.locks != 0 {
		return 0
	}
	key = scopeviewKeys.Add(1)
	scopeviewReport(` + number(row.MakeGo) + `|uint32(rate)<<8|(place+1)<<16, key, 0, 0, 0, 0, 0, 0)
	return key
}

// scopeviewFollow begins to time a goroutine that does not run yet.
func scopeviewFollow(newg *g, key uintptr) bool {
	s := &scopeviewRuns[newg.goid%uint64(len(scopeviewRuns))]
	old, now := s.goid.Load(), nanotime()
	if old != 0 && now-s.made < 100e6 || !s.goid.CompareAndSwap(old, newg.goid) {
		return false
	}
	s.key, s.made, s.began, s.ran, s.parks = key, now, 0, 0, 0
	return true
}

func scopeviewRunBegins(gp *g) {
	if s := &scopeviewRuns[gp.goid%uint64(len(scopeviewRuns))]; s.goid.Load() == gp.goid && s.began == 0 {
		s.began = nanotime()
	}
}

func scopeviewRunParks(gp *g) {
	if s := &scopeviewRuns[gp.goid%uint64(len(scopeviewRuns))]; s.goid.Load() == gp.goid {
		s.ran += nanotime() - s.began
		s.began = 0
		s.parks++
	}
}

func scopeviewRunEnds() {
	gp := getg()
	s := &scopeviewRuns[gp.goid%uint64(len(scopeviewRuns))]
	if s.goid.Load() != gp.goid {
		return
	}
	key, ran, parks := s.key, s.ran+nanotime()-s.began, s.parks
	s.goid.Store(0)
	scopeviewReport(` + number(row.EndGo) + `, key, uintptr(ran), parks, 1, 0, 0, 0)
}`}

var (
	runtimeUses = []variable{watching("runtime")}
	syncUses    = []variable{watching("sync")}
)

// threadTable has the hooks for advice on shared objects, and on goroutines.
var threadTable = []hook{
	adviceHook("chanuse", Multithreaded, "channels, how full they were, and for a share of the time their waiters", concat(
		[]edit{
			{file: "runtime/chan.go", function: "makechan", at: "return c", insert: "if scopeviewCounter != nil { scopeviewMadeChan(c, sys.GetCallerPC()) }; "},
			{file: "runtime/chan.go", function: "closechan", at: "}", last: true, insert: "if scopeviewCounter != nil { scopeviewChan(" + number(row.ChanClose) + ", c, 0) }; "},
			{file: "runtime/chan.go", function: "chansend", at: "c.qcount++", behind: true, insert: "; scopeviewQueued(c)"},
		},
		chanUse("chansend", row.ChanSend, row.ChanSendWait),
		chanUse("chanrecv", row.ChanReceive, row.ChanReceiveWait),
		[]edit{
			{file: "runtime/select.go", function: "selectgo", at: "var recvOK bool", behind: true, insert: "; var scopeviewParked bool"},
			{file: "runtime/select.go", function: "selectgo", at: "gp.parkingOnChan.Store(true)", behind: true, insert: "; scopeviewParked = true"},
			{file: "runtime/select.go", function: "selectgo", at: "c.qcount++", behind: true, insert: "; scopeviewQueued(c)"},
			{file: "runtime/select.go", function: "selectgo", at: "if caseReleaseTime > 0 {",
				insert: "if scopeviewParked && scopeviewWatching != 0 { if casi < nsends { scopeviewChan(" + number(row.ChanSendWait) + ", c, 1) } else { scopeviewChan(" + number(row.ChanReceiveWait) + ", c, 1) } }; "},
		},
	), runtimeUses, queues),
	adviceHook("rwmutexuse", Multithreaded, "readers and writers of a sync.RWMutex, for a share of the time", []edit{
		// The report comes last, as the race detector is disabled before.
		{file: "sync/rwmutex.go", function: "RWMutex.RLock", at: "if rw.readerCount.Add(1) < 0 {", instead: true, insert: "scopeviewR := rw.readerCount.Add(1); if scopeviewR < 0 {"},
		{file: "sync/rwmutex.go", function: "RWMutex.RLock", at: "}", last: true, insert: "if scopeviewWatching != 0 { scopeviewReading(rw, scopeviewR) }; "},
		{file: "sync/rwmutex.go", function: "RWMutex.Lock", at: "}", last: true, insert: "if scopeviewWatching != 0 { scopeviewWriting(rw, r) }; "},
	}, syncUses, some, locking),
	adviceHook("syncmap", Multithreaded, "operations on a sync.Map, for a share of the time", []edit{
		syncMap("Load", "return m.m.Load(key)", mapReport(row.SyncGet, "true")+"return m.m.Load(key)"),
		syncMap("Store", "m.m.Store(key, value)", "_, scopeviewOld := m.m.Swap(key, value); "+mapReport(row.SyncPut, "scopeviewOld")),
		syncMap("LoadOrStore", "return m.m.LoadOrStore(key, value)", "actual, loaded = m.m.LoadOrStore(key, value); if loaded { "+mapReport(row.SyncGet, "true")+"} else { "+mapReport(row.SyncPut, "false")+"}; return actual, loaded"),
		syncMap("LoadAndDelete", "return m.m.LoadAndDelete(key)", mapReport(row.SyncDelete, "true")+"return m.m.LoadAndDelete(key)"),
		syncMap("Delete", "m.m.Delete(key)", mapReport(row.SyncDelete, "true")+"m.m.Delete(key)"),
		syncMap("Swap", "return m.m.Swap(key, value)", "previous, loaded = m.m.Swap(key, value); "+mapReport(row.SyncPut, "loaded")+"return previous, loaded"),
		syncMap("CompareAndSwap", "return m.m.CompareAndSwap(key, old, new)", mapReport(row.SyncPut, "true")+"return m.m.CompareAndSwap(key, old, new)"),
		syncMap("CompareAndDelete", "return m.m.CompareAndDelete(key, old)", mapReport(row.SyncDelete, "true")+"return m.m.CompareAndDelete(key, old)"),
		syncMap("Range", "m.m.Range(f)", mapReport(row.SyncRange, "true")+"m.m.Range(f)"),
	}, syncUses, some, locking, mapping),
	adviceHook("goruns", Multithreaded, "how long some of the goroutines run, and whether they wait", []edit{
		{file: "runtime/proc.go", function: "newproc", at: "pc := sys.GetCallerPC()", behind: true, insert: "; var scopeviewKey uintptr; if scopeviewCounter != nil { scopeviewKey = scopeviewMakesGo(pc) }"},
		{file: "runtime/proc.go", function: "newproc", at: "newg := newproc1(fn, gp, pc, false, waitReasonZero)", behind: true, insert: "; if scopeviewKey != 0 && scopeviewFollow(newg, scopeviewKey) { scopeviewKey = 0 }"},
		{file: "runtime/proc.go", function: "newproc", at: "})", behind: true, last: true, insert: "; if scopeviewKey != 0 { scopeviewReport(" + number(row.EndGo) + ", scopeviewKey, 0, 0, 0, 0, 0, 0) }"},
		{file: "runtime/proc.go", function: "execute", at: "gogo(&gp.sched)", insert: "scopeviewRunBegins(gp); "},
		{file: "runtime/proc.go", function: "park_m", at: "casgstatus(gp, _Grunning, _Gwaiting)", insert: "scopeviewRunParks(gp); "},
		// Before the statement that ends it for the race detector.
		{file: "runtime/proc.go", function: "goexit1", at: "if raceenabled {", insert: "scopeviewRunEnds(); "},
	}, nil, following),
}
