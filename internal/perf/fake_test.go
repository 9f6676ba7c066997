package perf

import (
	"sync"
	"testing"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// kept is a recording that keeps its blocks and facts.
type kept struct {
	t     *testing.T
	mu    sync.Mutex
	full  bool // there is no room
	all   []format.Switches
	facts map[string]string
}

var _ collect.Recording = (*kept)(nil)

func newKept(t *testing.T) *kept { return &kept{t: t, facts: map[string]string{}} }

func (k *kept) Block(typ format.BlockType, p []byte) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.full {
		return false
	}
	s, err := format.DecodeSwitches(nil, p)
	if typ != format.BlockSwitch || err != nil || len(p) > 60_000 {
		k.t.Errorf("a block of type %d, %d bytes: %v", typ, len(p), err)
	}
	k.all = append(k.all, s)
	return true
}

func (k *kept) Fact(key, value string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.facts[key] = value
}

func (k *kept) Work(f func()) { f() }
func (k *kept) Ring() int64   { return 0 }

// onCPU returns how long a thread was on a CPU between two moments, for how much of the
// time that is unknown, and how often it left a CPU.
func (k *kept) onCPU(tid uint32, from, to int64) (on, unknown, left int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	within := func(a, b int64) int64 { return max(min(b, to)-max(a, from), 0) }
	unknown = to - from
	for _, s := range k.all {
		if s.Thread != tid {
			continue
		}
		unknown -= within(s.Base, s.Until)
		at, is := s.Base, s.On
		for _, w := range s.List {
			if is {
				on += within(at, w.Time)
				if w.How != format.SwitchIn && w.Time >= from && w.Time < to {
					left++
				}
			}
			at, is = w.Time, w.How == format.SwitchIn
		}
		if is {
			on += within(at, s.Until)
		}
	}
	return on, unknown, left
}
