package pool

import (
	"fmt"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// patience is the longest time that a disk call may take before it counts as late; most take about
// 0.1 ms.
const patience = 20 * time.Millisecond

// begin resets the reason that atDisk has set.
func (s *segments) begin() error {
	if s.slow {
		s.swap(format.LossIO, format.LossWindow)
		s.slow = false
	}
	return s.ring.begin()
}

// atDisk makes a call that may wait for the disk. While the call is late, records that find no room
// count as lost to the disk, not to a window that was too small, until there is room or Extend is
// called again.
func (s *segments) atDisk(call func() error) error {
	var mu sync.Mutex
	var over, late bool
	begun := time.Now()
	timer := time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		late = !over && s.swap(format.LossWindow, format.LossIO)
	})
	err := call()
	timer.Stop()
	mu.Lock()
	defer mu.Unlock()
	if over = true; late {
		s.slow = true
		if s.p.Short() {
			s.late(fmt.Errorf("%s: extending the file took the disk %v; records were lost meanwhile", s.path, time.Since(begun).Round(time.Millisecond)))
		}
	}
	return err
}

// swap replaces the reason why there is no room, if it equals from.
func (s *segments) swap(from, to format.Loss) bool {
	s.p.dry.CompareAndSwap(uint32(from), uint32(to))
	return s.p.reason.CompareAndSwap(uint32(from), uint32(to))
}
