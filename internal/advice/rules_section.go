package advice

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var sectionRules = []Rule{
	{ID: "mutex-to-rwmutex", Group: Multithreaded, Kinds: []row.Kind{row.Mutex}, Judge: mutexToRWMutex},
}

// A mutex is judged if at least this many sections were seen, of which this share only load.
const (
	fewSections = 200
	mostlyLoads = 0.95
)

// reportCost is the additional time of a load or store in a build that reports them, in ns:
// the lock is held longer by as much.
const reportCost = 1

// mutexToRWMutex: goroutines wait for a sync.Mutex, and its holders only load. At best as
// many continue at once as there are processors, if no other goroutine needs these.
func mutexToRWMutex(r *Row, w Weights) (j Judgement) {
	loads, others, held := r.V(row.Gets), r.V(row.Puts)+r.V(row.Misses), r.V(row.HeldNS)
	if r.V(row.Watched) < fewSections || loads < mostlyLoads*(loads+others) || held <= 0 || !itself(r) {
		return j
	}
	atOnce := min(r.V(row.MaxCap), r.V(row.WaitNS)/held+1) // including the waiters
	held = min(held, r.NS*r.V(row.Made)) - r.V(row.Steps)*reportCost
	// A sync.RWMutex is a cache line that readers take from each other twice.
	dearer := loads*(max(w[rwRead]-w[mutexLock], 0)+2*w[lineBackAtomic]) + others*max(w[rwWrite]-w[mutexLock], 0)
	share := loads / (loads + others)
	if j.NS = share*held*(1-1/atOnce) - dearer; !r.matters(j.NS) {
		return Judgement{}
	}
	j.Ops = r.V(row.Waits)
	j.Advice = fmt.Sprintf("a sync.RWMutex instead of the sync.Mutex, with RLock where it guards loads only, saves up to %s: in %s of its critical sections no store was seen, and goroutines waited for it %s", show.Duration(j.NS), part(loads, loads+others), show.Plural(r.V(row.Waits), "time"))
	j.Evidence = []string{
		fmt.Sprintf("%s that this place waits for most; locked about %s times, of which %s were observed from Lock to Unlock", show.Plural(r.V(row.Made), "lock"), show.Count(loads+others), show.Count(r.V(row.Watched))),
		fmt.Sprintf("%s of waits in all, while it was locked for %s, and %s", show.Duration(r.V(row.WaitNS)), show.Duration(held), show.Plural(r.V(row.MaxCap), "processor")),
		"loads and stores are sampled in bursts, and the rest is estimated; the saving is wall time, not CPU time, and less where other goroutines need the processors",
	}
	j.Stoppers = []string{"stores in packages that are not sampled, and by clear of a slice, are not seen: check the calls made while it is locked"}
	return j
}

// itself reports whether the program locks a sync.Mutex directly: a sync.RWMutex contains
// one, too.
func itself(r *Row) bool {
	for _, f := range r.Stack {
		if !begins(f, "sync.", "internal/sync.") {
			break
		}
		if !strings.Contains(f, ".(*Mutex).") {
			return false
		}
	}
	return own(r)
}
