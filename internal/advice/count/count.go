package count

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Full is the number of creations at one place of the code that are sampled before the rate
// is halved.
const Full = 1024

// Rates is the number of places of the code with separate sampling rates.
const Rates = 4096

// counter is the state of counting in this program.
type counter struct {
	rows   rows
	tables [row.Kinds]*table

	exact   bool            // nothing is sampled: every event is counted
	rates   *[Rates]uint8   // by place: one of 2^n creations is sampled
	seen    [Rates]uint32   // number sampled at the current rate
	skipped *[1 << 16]uint8 // by type, whether creations of slices of it were skipped; 0: of maps
	scale   atomic.Int64    // weight of an operation, in units
	now     atomic.Int64    // ns, at the writer's last reading of the clock
}

var c counter

// on reports whether events are counted.
var on atomic.Bool

// Report handles an event. what has the event, the sampling rate of its place of the code, and
// the index of that place; a has its numbers, and pcs the call stack, innermost first, if it
// has one.
//
// The runtime calls it on a goroutine that is pinned to its thread: see the package's
// comment.
func Report(what uint32, a *[8]uintptr, pcs []uintptr) {
	if !on.Load() {
		return
	}
	e, rate, place := row.Event(what&0xff), what>>8&0xff, what>>16
	if place != 0 {
		thinOut(place-1, rate)
	}
	weight := int64(1) << rate
	switch e {
	case row.MakeSlice:
		makeSlice(a, weight, pcs)
	case row.GrowSlice:
		growSlice(a, weight, pcs)
	case row.MakeMap:
		makeMap(a, weight, pcs)
	case row.GrowMap:
		growMap(a, weight, pcs)
	case row.MapGet, row.MapPut, row.MapDelete, row.MapIter, row.MapStep, row.MapClear:
		useMap(e, a)
	case row.ShiftSlice:
		shiftSlice(a, weight, pcs)
	case row.MutexWait:
		waitMutex(a, weight, pcs)
	case row.MapNaN:
		storeNaN(a)
	case row.MakeList:
		makeList(a, weight, pcs)
	case row.Searched:
		searched(a, weight, pcs)
	case row.Shifted:
		shifted(a, weight, pcs)
	case row.SortBegins:
		sortBegins(a)
	case row.Sorted:
		sorted(a, weight, pcs)
	case row.MakeChan:
		makeChan(a, weight, pcs)
	case row.ChanSend, row.ChanReceive, row.ChanSendWait, row.ChanReceiveWait, row.ChanClose:
		useChan(e, a)
	case row.ReadLock, row.WriteLock:
		lockRW(e, a, pcs)
	case row.SyncGet, row.SyncPut, row.SyncDelete, row.SyncRange:
		useSyncMap(e, a, pcs)
	case row.MakeGo:
		makeGo(a, weight, pcs)
	case row.EndGo:
		endGo(a)
	case row.BufferGrow:
		growBuffer(a)
	case row.ReadAll:
		readAll(a, weight, pcs)
	case row.ConcatStrings:
		concatStrings(a, weight, pcs)
	case row.ConvertString:
		convertString(a, weight, pcs)
	case row.CompileRegexp:
		compileRegexp(a, weight, pcs)
	case row.BoxValue:
		boxValue(a, weight, pcs)
	case row.ReadFile, row.WriteFile:
		useFile(e, a, weight, pcs)
	case row.PoolGet, row.PoolPut:
		usePool(e, a, weight, pcs)
	default:
		if row.ListPushFront <= e && e <= row.ListPrev {
			useList(e, a)
		}
	}
}

// thinOut counts a sample of a place, and halves the place's rate after Full samples.
func thinOut(place, rate uint32) {
	if c.exact || place >= Rates {
		return
	}
	if atomic.AddUint32(&c.seen[place], 1) == Full { // only one goroutine reaches Full, until the reset
		if uint32(c.rates[place]) == rate && rate < 24 {
			c.rates[place]++
		}
		atomic.StoreUint32(&c.seen[place], 0)
	}
}

// Thinned sets the array with the sampling rates that the runtime reads.
func Thinned(rates *[Rates]uint8) { c.rates = rates }

// ReportTo registers a hook variable, which is set to Report while events are counted.
// Otherwise it is nil, and the hook does nothing.
func ReportTo(to *func(what uint32, a *[8]uintptr, pcs []uintptr)) {
	reportHooks = append(reportHooks, to)
}

// Missing records that this program's standard library lacks a hook, and why.
func Missing(hook, why string) {
	if missing == nil {
		missing = map[string]string{}
	}
	missing[hook] = why
}

// missing are the reasons why hooks are missing, by name.
var missing map[string]string

// Followed sets the bits that the runtime checks before it reports a slice's growth: one for
// each hash of an address.
func Followed(bits *[1 << 13]uint64) { followed = bits }

// Skipped sets the array in which the runtime marks the types whose creations were skipped.
func Skipped(types *[1 << 16]uint8) { c.skipped = types }

// Watching registers a word that is not 0 while operations are reported.
func Watching(flag *uint32) { flags = append(flags, flag) }

// OneOf sets the mask for sampling operations: one is reported if these low bits of a random
// number are 0.
func OneOf(m *uint32) { mask = m }

// Pinning sets the functions that pin a goroutine to its thread, and release it.
func Pinning(hold, release func()) { pin, unpin = hold, release }

var (
	reportHooks []*func(what uint32, a *[8]uintptr, pcs []uintptr)
	flags       []*uint32
	mask        = new(uint32)
	followed    = new([1 << 13]uint64)
	pin, unpin  = func() {}, func() {}
)

// born creates an instance for an event.
func born(k row.Kind, key, typ uintptr, weight int64, pcs []uintptr) (x inst, ok bool) {
	s := c.rows.of(k, typ, pcs)
	if s == nil {
		return x, false
	}
	return inst{key: key, site: c.rows.index(s), weight: weight, born: c.now.Load()}, true
}

// one returns the weight of a reported operation, in units: folding divides by unit.
func one() int64 { return c.scale.Load() }

// unit is the weight of an operation that counts once.
const unit = 1024
