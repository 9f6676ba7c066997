package advice

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var threadRules = []Rule{
	{ID: "chan-too-small", Group: Multithreaded, Kinds: []row.Kind{row.Chan}, Judge: chanTooSmall},
	{ID: "chan-too-large", Group: Multithreaded, Kinds: []row.Kind{row.Chan}, Judge: chanTooLarge},
	{ID: "rwmutex-to-mutex", Group: Multithreaded, Kinds: []row.Kind{row.RWMutex}, Judge: rwmutexToMutex},
	{ID: "sync-map", Group: Multithreaded, Kinds: []row.Kind{row.SyncMap}, Judge: syncMap},
	{ID: "goroutine-too-small", Group: Multithreaded, Kinds: []row.Kind{row.Goroutine}, Judge: goroutineTooSmall},
}

// own reports whether the program, or one of its modules, made or uses a row's objects, and
// not the standard library, which it can't change.
func own(r *Row) bool {
	for _, f := range r.Stack {
		if !begins(f, "sync.", "internal/sync.", "container/list.") {
			return !r.standard(f)
		}
	}
	return false
}

// Limits for an advised capacity of a channel: bytes, minimum elements, and multiple of the
// current one.
const (
	chanBytes = 64 << 10
	chanRoom  = 64
	chanTimes = 8
)

// chanTooSmall: sender and receiver wait for each other alternately. With a buffer, one
// continues until it is full, the other until it is empty. If only one of them waits, the
// other is slower, and if both use another channel in between, one waits for an answer: a
// buffer would not help.
func chanTooSmall(r *Row, w Weights) (j Judgement) {
	size, elem := r.V(row.MaxCap), r.V(row.MaxElem)
	bySend := r.V(row.Extra)
	turns := 2 * min(bySend, r.V(row.Waits)-bySend)
	ahead := r.V(row.Extra2) > 0.9*r.V(row.Puts) || r.V(row.Extra3) > 0.9*r.V(row.Gets)
	seldom := r.V(row.Waits) < 0.05*(r.V(row.Puts)+r.V(row.Gets))
	if elem == 0 || !own(r) || !ahead || seldom || turns < 8*r.V(row.Made) { // elements without a size are signals
		return j
	}
	n := max(chanRoom, chanTimes*size)
	if n*elem > chanBytes {
		n = float64(int(chanBytes / elem))
	}
	if n < 2*(size+1) {
		return j
	}
	saved := turns * (1 - (size+1)/n)
	j.NS = saved * w[chanWait]
	j.Ops = saved
	j.Fix = Fix{"capacity", int64(n)}
	j.Advice = fmt.Sprintf("make(chan %s, %.0f) here, with a capacity of %s now, saves %s of sender and receiver for each other", r.Type, n, show.Between(r.Stats.V[row.MinHint], r.Stats.V[row.MaxHint]), show.Plural(saved, "wait"))
	j.Evidence = []string{
		fmt.Sprintf("%s: of %s %s waited, and of %s %s", show.Plural(r.V(row.Made), "channel"), show.Plural(r.V(row.Puts), "send"), show.Count(bySend), show.Plural(r.V(row.Gets), "receive"), show.Count(r.V(row.Waits)-bySend)),
		fmt.Sprintf("the channel then takes %s more", show.Size((n-size)*elem)),
	}
	if r.V(row.Hinted) < r.V(row.Made) {
		j.Stoppers = append(j.Stoppers, "it is unbuffered: a send returns after the receive; with a buffer it may return before")
	}
	return j
}

// chanTooLarge: the queues were never more than a quarter full. That is known for channels
// that were read while they lived.
func chanTooLarge(r *Row, w Weights) (j Judgement) {
	size, most, made, seen := r.V(row.MaxCap), r.V(row.MaxLen), r.V(row.Made), r.V(row.Exact)
	least := r.V(row.MinHint)
	if r.V(row.Hinted) < made || seen < min(made, 16) || 4*most > least || !own(r) {
		return j
	}
	n := max(2*most, 1)
	j.Bytes = max(r.V(row.CapBytes)-made*n*r.V(row.MaxElem), 0)
	if j.Bytes < 1024*made { // an object of its size is as cheap
		return Judgement{}
	}
	j.NS = j.Bytes * w[allocByte]
	j.Ops = j.Bytes / 8
	j.Fix = Fix{"capacity", int64(n)}
	j.Advice = fmt.Sprintf("make(chan %s, %.0f) instead of a capacity of %s saves %s", r.Type, n, show.Between(least, size), show.Size(j.Bytes))
	j.Evidence = []string{fmt.Sprintf("%s; of %s sampled, the fullest held %s", show.Plural(made, "channel"), show.Count(seen), show.Plural(most, "element"))}
	j.Stoppers = []string{"it may have room for a burst that did not occur in these runs"}
	return j
}

// overlap is the share of overlapping readers above which a lock must stay a sync.RWMutex:
// with another lock they would wait.
const overlap = 0.001

// rwmutexToMutex: readers never overlap, so the additional cost of a sync.RWMutex gains
// nothing.
func rwmutexToMutex(r *Row, w Weights) (j Judgement) {
	reads, writes := r.V(row.Gets), r.V(row.Puts)
	if writes == 0 || r.V(row.Extra) > overlap*reads || !own(r) {
		return j
	}
	j.NS = writes*(w[rwWrite]-w[mutexLock]) + reads*(w[rwRead]-w[mutexLock])
	if j.NS <= 0 {
		return Judgement{}
	}
	j.Ops = writes
	j.Advice = fmt.Sprintf("a sync.Mutex instead of the sync.RWMutex: it is locked %s times to write, which costs twice as much, and %s times to read, never by two at once", show.Count(writes), show.Count(reads))
	if r.V(row.Extra) > 0 {
		j.Advice = strings.Replace(j.Advice, "never by two at once", fmt.Sprintf("%s of them while others read", show.Count(r.V(row.Extra))), 1)
	}
	j.Evidence = lockPlace(r, "lock")
	if reads > writes {
		j.Stoppers = append(j.Stoppers, "it is read more often than written: with more goroutines or processors, readers may meet")
	}
	if r.V(row.Waits) > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("%s for one that reads, or writes", show.Plural(r.V(row.Waits), "wait")))
	}
	return j
}

// lockPlace describes the place of a row without creation events.
func lockPlace(r *Row, what string) []string {
	return []string{fmt.Sprintf("%s that this place uses most: its declaration was not found", show.Plural(r.V(row.Made), what))}
}

// othersMost is the maximum share of operations on a sync.Map by goroutines other than its
// main user: above it several may use it at once, which it is designed for.
const othersMost = 0.01

// syncMap: one goroutine stores much in a sync.Map. An ordinary map with a lock takes a
// fraction of the time.
func syncMap(r *Row, w Weights) (j Judgement) {
	gets, puts, fresh, deletes := r.V(row.Gets), r.V(row.Puts), r.V(row.Extra), r.V(row.Deletes)
	all := gets + puts + deletes
	if all == 0 || r.V(row.Extra2) > othersMost*all || !own(r) {
		return j
	}
	j.NS = gets*(w[syncGet]-w[mapGet]-w[mutexLock]) + fresh*(w[syncPut]-w[mapBuild]-w[mutexLock]) +
		(puts-fresh)*(w[syncSwap]-w[mapPut]-w[mutexLock]) + deletes*(w[syncDelete]-w[mapPut]-w[mutexLock])
	if j.NS <= 0 {
		return Judgement{}
	}
	j.Ops = puts + deletes
	j.Advice = fmt.Sprintf("a map and a sync.Mutex instead of the sync.Map: it gets %s, %s of them of new keys, and %s, almost all by one goroutine", show.Plural(puts, "store"), show.Count(fresh), show.Plural(deletes, "deletion"))
	j.Evidence = append(lockPlace(r, "map"), fmt.Sprintf("%s; %s by goroutines other than its main user", show.Plural(gets, "load"), show.Plural(r.V(row.Extra2), "operation")))
	if r.V(row.Iterations) > 0 {
		j.Stoppers = append(j.Stoppers, fmt.Sprintf("Range is called %s times: with a lock, its callback must not use the map", show.Count(r.V(row.Iterations))))
	}
	if gets > puts {
		j.Stoppers = append(j.Stoppers, "it is read more often than written: with more goroutines or processors, readers of a sync.Map do not wait")
	}
	return j
}

// goroutineTooSmall: almost all goroutines that are started here take less time than
// starting one, and wait for nothing.
func goroutineTooSmall(r *Row, w Weights) (j Judgement) {
	timed := r.V(row.Watched)
	limit := int64(2 * w[goStart]) // the measured time includes a part of starting, and reading the clock
	small := 0.0
	for b, n := range r.H[row.Len] {
		if row.Highest(b) <= limit {
			small += float64(n)
		}
	}
	if timed < 16 || small < 0.9*timed || !own(r) {
		return j
	}
	n := r.V(row.Made) * small / timed
	j.NS = n * w[goStart]
	j.Ops = n
	j.Advice = fmt.Sprintf("larger pieces of work for a goroutine, of about %s, or a few goroutines that take them from a channel or an index: starting one takes %s, and %s run no longer than %s (p50)", show.Duration(50*w[goStart]), show.Duration(w[goStart]), show.Plural(n, "goroutine"), show.Duration(r.P(row.Len, 0.5)))
	j.Evidence = []string{fmt.Sprintf("%s started; of %s that were timed %s ran for up to %s, and %s waited", show.Plural(r.V(row.Made), "goroutine"), show.Count(timed), show.Count(small), show.Duration(limit), show.Count(r.V(row.Waits)))}
	return j
}
