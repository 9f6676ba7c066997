package hot

import (
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTogetherApart: the two goroutines are on one CPU each, not on the same one, and
// their threads may run anywhere afterwards.
func TestTogetherApart(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || all.Count() < 2 {
		t.Skip("there are no two CPUs to run on: ", err)
	}
	var mu sync.Mutex
	var sets []unix.CPUSet
	var threads []int
	Together(func(int) {
		var set unix.CPUSet
		_ = unix.SchedGetaffinity(0, &set)
		mu.Lock()
		defer mu.Unlock()
		sets, threads = append(sets, set), append(threads, unix.Gettid())
	})(1)
	if len(sets) != 2 || sets[0].Count() != 1 || sets[1].Count() != 1 || sets[0] == sets[1] {
		t.Errorf("they ran on the CPUs %v", sets)
	}
	for _, id := range threads {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(id, &set); err != nil || set != all {
			t.Errorf("the thread %d is left on %v: %v", id, set, err)
		}
	}
}
