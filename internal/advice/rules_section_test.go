package advice

import (
	"reflect"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// TestSections checks the judgement of a sync.Mutex.
func TestSections(t *testing.T) {
	w := Weights{mutexLock: 10, rwRead: 11, rwWrite: 20, lineBackAtomic: 40}
	locked := threadRow(row.Mutex, map[row.Value]int64{
		row.Made: 1, row.Watched: 500, row.Gets: 96_000, row.Puts: 3000, row.Misses: 1000, row.Steps: 10_000_000,
		row.Waits: 2000, row.WaitNS: 1e9, row.HeldNS: 410e6, row.MaxCap: 2,
	})
	locked.NS = 1e9
	want := Judgement{
		// Of the 400 ms, without the cost of reporting, loading sections save half.
		NS: 0.96*400e6/2 - 96_000*81 - 4000*10, Ops: 2000,
		Advice: "a sync.RWMutex instead of the sync.Mutex, with RLock where it guards loads only, saves up to 184ms: in 96% of its critical sections no store was seen, and goroutines waited for it 2,000 times",
		Evidence: []string{
			"1 lock that this place waits for most; locked about 100,000 times, of which 500 were observed from Lock to Unlock",
			"1.00s of waits in all, while it was locked for 400ms, and 2 processors",
			"loads and stores are sampled in bursts, and the rest is estimated; the saving is wall time, not CPU time, and less where other goroutines need the processors",
		},
		Stoppers: []string{"stores in packages that are not sampled, and by clear of a slice, are not seen: check the calls made while it is locked"},
	}
	locked.Stack = append([]string{"internal/sync.(*Mutex).lockSlow /go/src/internal/sync/mutex.go:1", "sync.(*Mutex).Lock /go/src/sync/mutex.go:1"}, locked.Stack...)
	if got := mutexToRWMutex(locked, w); !reflect.DeepEqual(got, want) {
		t.Errorf("\n%+v\nwant:\n%+v", got, want)
	}
	within := *locked
	within.Stack = append([]string{"sync.(*Mutex).Lock /go/src/sync/mutex.go:1", "sync.(*RWMutex).Lock /go/src/sync/rwmutex.go:1"}, locked.Stack...)
	for name, r := range map[string]*Row{
		"one of twelve stores":           but(locked, map[row.Value]int64{row.Puts: 8000}),
		"of many nothing is seen":        but(locked, map[row.Value]int64{row.Misses: 8000}),
		"few are seen":                   but(locked, map[row.Value]int64{row.Watched: 199}),
		"nobody waits":                   but(locked, map[row.Value]int64{row.Waits: 0, row.WaitNS: 0, row.HeldNS: 0}),
		"they wait for a moment":         but(locked, map[row.Value]int64{row.HeldNS: 40e6}),
		"one processor":                  but(locked, map[row.Value]int64{row.MaxCap: 1}),
		"sections of a few ns":           but(locked, map[row.Value]int64{row.Gets: 96e6, row.Puts: 0}),
		"a sync.RWMutex's own":           &within,
		"the standard library's":         std(locked),
		"its waits are reported instead": but(locked, map[row.Value]int64{row.Steps: 400_000_000}),
	} {
		if j := mutexToRWMutex(r, w); j.Advice != "" {
			t.Errorf("%s: %s", name, j.Advice)
		}
	}
}
