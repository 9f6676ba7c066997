package sweeper_test

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/scopeview/scopeview/sweeper"
)

var misses *sweeper.Sweeper

// miss counts its callers, for a few hundred nanoseconds a call.
func miss() {
	var pcs [16]uintptr
	_ = misses.Put(1, 1, pcs[:runtime.Callers(2, pcs[:])]) // a lost record is not counted
}

func rare()  { miss() }
func often() { miss() }

// A program finds the callers of a function that is called too often to be
// logged.
func Example() {
	names, callers, calls := map[uint32]string{}, map[uint32]string{}, map[string]int64{}
	misses = sweeper.New(sweeper.Config{
		Every: time.Second,
		Frame: func(f *sweeper.Frame) bool {
			names[f.ID] = f.Function[strings.LastIndexByte(f.Function, '.')+1:]
			return true
		},
		Stack: func(s *sweeper.Stack) bool {
			callers[s.ID] = names[s.Frames[0]]
			return true
		},
		Counts: func(cs []sweeper.Count) bool {
			for _, c := range cs {
				calls[callers[c.Stack]] += c.Calls
			}
			return true
		},
	})
	misses.Start()
	for i := range 10_000 {
		if often(); i%1000 == 0 {
			rare()
		}
	}
	unreported := misses.Stop()
	fmt.Println("often:", calls["often"], "rare:", calls["rare"], "unreported:", unreported)
	// Output: often: 10000 rare: 10 unreported: 0
}
