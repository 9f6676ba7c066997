package advice

import (
	"reflect"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// threadRow returns a row of the program's own code.
func threadRow(k row.Kind, values map[row.Value]int64) *Row {
	r := &Row{root: "/go/src/"}
	r.Kind, r.Type, r.Stack = k, "int", []string{"main.f /src/p/f.go:7", "main.main /src/p/main.go:3"}
	for v, n := range values {
		r.Stats.V[v] = n
	}
	return r
}

// but returns the row with other values.
func but(r *Row, values map[row.Value]int64) *Row {
	c := *r
	for v, n := range values {
		c.Stats.V[v] = n
	}
	return &c
}

// std returns the row with frames of the standard library.
func std(r *Row) *Row {
	c := *r
	c.Stack = append([]string{"sync.(*RWMutex).Lock /go/src/sync/rwmutex.go:1", "time.NewTimer /go/src/time/sleep.go:1"}, r.Stack...)
	return &c
}

// ran adds n goroutines that ran for ns.
func ran(r *Row, ns, n int64) *Row {
	c := *r
	c.Stats.H[row.Len][row.Bucket(ns)] += n
	return &c
}

var (
	pipe = threadRow(row.Chan, map[row.Value]int64{
		row.Made: 1, row.MaxElem: 8, row.Puts: 1000, row.Gets: 1000, row.Waits: 1000, row.Extra: 480, row.Extra2: 1000, row.Extra3: 1000,
	})
	queue = threadRow(row.Chan, map[row.Value]int64{
		row.Made: 100, row.Hinted: 100, row.Exact: 50, row.MaxElem: 8, row.MaxLen: 5, row.MinHint: 1000, row.MaxHint: 1000, row.MaxCap: 1000, row.CapBytes: 800_000,
	})
	written = threadRow(row.RWMutex, map[row.Value]int64{row.Made: 1, row.Unseen: 1, row.Puts: 1000, row.Gets: 100})
	filled  = threadRow(row.SyncMap, map[row.Value]int64{row.Made: 1, row.Unseen: 1, row.Puts: 1000, row.Extra: 900, row.Gets: 100, row.Deletes: 10})
	tiny    = ran(threadRow(row.Goroutine, map[row.Value]int64{row.Made: 2000, row.Watched: 1000}), 100, 1000)
)

// weighed are weights that are easy to multiply.
var weighed = Weights{allocByte: 1, chanWait: 100, mutexLock: 10, rwRead: 11, rwWrite: 20, mapGet: 10, mapPut: 20, mapBuild: 20, syncGet: 20, syncPut: 130, syncSwap: 80, syncDelete: 60, goStart: 200}

// TestThreadAdvice: each diagnostic gives exactly this advice.
func TestThreadAdvice(t *testing.T) {
	for id, c := range map[string]struct {
		r    *Row
		want Judgement
	}{
		"chan-too-small": {pipe, Judgement{
			NS: 94500, Ops: 945, Fix: Fix{"capacity", 64},
			Advice:   "make(chan int, 64) here, with a capacity of 0 now, saves 945 waits of sender and receiver for each other",
			Evidence: []string{"1 channel: of 1,000 sends 480 waited, and of 1,000 receives 520", "the channel then takes 512 B more"},
			Stoppers: []string{"it is unbuffered: a send returns after the receive; with a buffer it may return before"},
		}},
		"chan-too-large": {queue, Judgement{
			NS: 792_000, Bytes: 792_000, Ops: 99_000, Fix: Fix{"capacity", 10},
			Advice:   "make(chan int, 10) instead of a capacity of 1,000 saves 773 KiB",
			Evidence: []string{"100 channels; of 50 sampled, the fullest held 5 elements"},
			Stoppers: []string{"it may have room for a burst that did not occur in these runs"},
		}},
		"rwmutex-to-mutex": {written, Judgement{
			NS: 10_100, Ops: 1000,
			Advice:   "a sync.Mutex instead of the sync.RWMutex: it is locked 1,000 times to write, which costs twice as much, and 100 times to read, never by two at once",
			Evidence: []string{"1 lock that this place uses most: its declaration was not found"},
		}},
		"sync-map": {filled, Judgement{
			NS: 900*100 + 100*50 + 10*30, Ops: 1010,
			Advice:   "a map and a sync.Mutex instead of the sync.Map: it gets 1,000 stores, 900 of them of new keys, and 10 deletions, almost all by one goroutine",
			Evidence: []string{"1 map that this place uses most: its declaration was not found", "100 loads; 0 operations by goroutines other than its main user"},
		}},
		"goroutine-too-small": {tiny, Judgement{
			NS: 400_000, Ops: 2000,
			Advice:   "larger pieces of work for a goroutine, of about 10.0µs, or a few goroutines that take them from a channel or an index: starting one takes 200ns, and 2,000 goroutines run no longer than 111ns (p50)",
			Evidence: []string{"2,000 goroutines started; of 1,000 that were timed 1,000 ran for up to 400ns, and 0 waited"},
		}},
	} {
		if got := judge(t, id)(c.r, weighed); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n%+v\nwant:\n%+v", id, got, c.want)
		}
	}
}

// TestThreadSilence: similar rows give no advice.
func TestThreadSilence(t *testing.T) {
	for name, c := range map[string]struct {
		id string
		r  *Row
	}{
		"only the sender waits":                  {"chan-too-small", but(pipe, map[row.Value]int64{row.Waits: 480})},
		"one waits for an answer":                {"chan-too-small", but(pipe, map[row.Value]int64{row.Extra2: 500, row.Extra3: 480})},
		"it seldom waits":                        {"chan-too-small", but(pipe, map[row.Value]int64{row.Waits: 90, row.Extra: 45})},
		"signals":                                {"chan-too-small", but(pipe, map[row.Value]int64{row.MaxElem: 0})},
		"each channel is for one element":        {"chan-too-small", but(pipe, map[row.Value]int64{row.Made: 1000})},
		"there is room":                          {"chan-too-small", but(pipe, map[row.Value]int64{row.MaxCap: 10_000, row.Hinted: 1})},
		"a timer's":                              {"chan-too-small", std(pipe)},
		"it was full":                            {"chan-too-large", but(queue, map[row.Value]int64{row.MaxLen: 1000})},
		"a third was used":                       {"chan-too-large", but(queue, map[row.Value]int64{row.MaxLen: 333})},
		"few were looked at":                     {"chan-too-large", but(queue, map[row.Value]int64{row.Exact: 5})},
		"small ones are no matter":               {"chan-too-large", but(queue, map[row.Value]int64{row.CapBytes: 90_000})},
		"the smallest is small":                  {"chan-too-large", but(queue, map[row.Value]int64{row.MinHint: 10})},
		"the standard library's channels":        {"chan-too-large", std(queue)},
		"readers meet":                           {"rwmutex-to-mutex", but(written, map[row.Value]int64{row.Extra: 5})},
		"only read":                              {"rwmutex-to-mutex", but(written, map[row.Value]int64{row.Puts: 0})},
		"the standard library's locks":           {"rwmutex-to-mutex", std(written)},
		"several use the map":                    {"sync-map", but(filled, map[row.Value]int64{row.Extra2: 100})},
		"it is only read":                        {"sync-map", but(filled, map[row.Value]int64{row.Puts: 0, row.Extra: 0, row.Deletes: 0})},
		"the standard library's maps":            {"sync-map", std(filled)},
		"goroutines wait":                        {"goroutine-too-small", but(tiny, map[row.Value]int64{row.Watched: 2000, row.Waits: 1000})},
		"goroutines work":                        {"goroutine-too-small", ran(threadRow(row.Goroutine, map[row.Value]int64{row.Made: 2000, row.Watched: 1000}), 10_000, 1000)},
		"too few are timed":                      {"goroutine-too-small", ran(threadRow(row.Goroutine, map[row.Value]int64{row.Made: 2000, row.Watched: 10}), 100, 10)},
		"the standard library starts goroutines": {"goroutine-too-small", std(tiny)},
	} {
		if j := judge(t, c.id)(c.r, weighed); j.Advice != "" {
			t.Errorf("%s: %s", name, j.Advice)
		}
	}
}

func judge(t *testing.T, id string) func(*Row, Weights) Judgement {
	t.Helper()
	for _, r := range threadRules {
		if r.ID == id {
			return r.Judge
		}
	}
	t.Fatalf("there is no %s", id)
	return nil
}
