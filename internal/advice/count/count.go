package count

import (
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Full is how many creations at one place of the code are looked at before half as many are.
const Full = 1024

// Rates is how many places of the code are told apart when their creations are thinned out.
const Rates = 4096

// counter is all that is counted in this program.
type counter struct {
	rows   rows
	tables [row.Kinds]*table

	exact   bool            // nothing is thinned out, and everything looked at
	rates   *[Rates]uint8   // of each place, which part is looked at: one of two to the power of
	seen    [Rates]uint32   // how many were, at that rate
	skipped *[1 << 16]uint8 // by type, whether creations of slices of it were passed over; 0: of maps
	scale   atomic.Int64    // what an operation counts for, in units
	now     atomic.Int64    // ns, as of the writer's last look at the clock
}

var c counter

// on reports whether what is told is counted.
var on atomic.Bool

// Told takes an event. what is the event, the rate of its place of the code, and which of the places
// that is; a are its numbers, and pcs the call stack, innermost first, of an event that has one.
//
// The runtime calls it on a goroutine that is pinned to its thread: see the package's comment.
func Told(what uint32, a *[8]uintptr, pcs []uintptr) {
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

// thinOut counts that a place was looked at at a rate, and has it looked at half as often when that
// was often.
func thinOut(place, rate uint32) {
	if c.exact || place >= Rates {
		return
	}
	if atomic.AddUint32(&c.seen[place], 1) == Full { // who finds that is alone until the next
		if uint32(c.rates[place]) == rate && rate < 24 {
			c.rates[place]++
		}
		atomic.StoreUint32(&c.seen[place], 0)
	}
}

// Thinned is given where the runtime looks which part of creations is told of.
func Thinned(rates *[Rates]uint8) { c.rates = rates }

// Telling is given a variable that is to be Told while it is counted. Until then it is nil, and what looks
// at it does nothing.
func Telling(to *func(what uint32, a *[8]uintptr, pcs []uintptr)) { tellers = append(tellers, to) }

// Missing is told which hook the standard library of this program is without, and why.
func Missing(hook, why string) {
	if missing == nil {
		missing = map[string]string{}
	}
	missing[hook] = why
}

// missing is why hooks are missing, by their names.
var missing map[string]string

// Followed is given where the runtime looks whether a slice may be followed: a bit for each hash of an
// address.
func Followed(bits *[1 << 13]uint64) { followed = bits }

// Skipped is given where the runtime notes of which types creations were passed over.
func Skipped(types *[1 << 16]uint8) { c.skipped = types }

// Watching is given a word that is not 0 while operations are to be told of.
func Watching(flag *uint32) { flags = append(flags, flag) }

// OneOf is given what says how many operations are told of: the low bits that are 0 in a random number.
func OneOf(m *uint32) { mask = m }

// Pinning is given what keeps a goroutine on its thread, and lets go of it.
func Pinning(hold, release func()) { pin, unpin = hold, release }

var (
	tellers    []*func(what uint32, a *[8]uintptr, pcs []uintptr)
	flags      []*uint32
	mask       = new(uint32)
	followed   = new([1 << 13]uint64)
	pin, unpin = func() {}, func() {}
)

// born makes an instance of an event.
func born(k row.Kind, key, typ uintptr, weight int64, pcs []uintptr) (x inst, ok bool) {
	s := c.rows.of(k, typ, pcs)
	if s == nil {
		return x, false
	}
	return inst{key: key, site: c.rows.index(s), weight: weight, born: c.now.Load()}, true
}

// one is what an operation counts for that is told of, in units: folding divides by them.
func one() int64 { return c.scale.Load() }

// unit is the scale of an operation that counts for itself.
const unit = 1024
