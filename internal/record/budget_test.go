//go:build !scope_off

package record

import (
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/sys"
)

// simulated is a recording with simulated calls and time.
type simulated struct {
	*functions
	now    time.Time
	cpu    int64
	called []int64
	unseen int64
}

const tickNS = int64(50 * time.Millisecond)

func simulate(count int) *simulated {
	fs := &functions{sampling: true, r: &recorder{clock: sys.NewClock(), rate: 1e9}}
	for i := range count + sys.FirstFunc {
		f := &function{number: i}
		if i >= sys.FirstFunc {
			f.f = &sys.Func{}
		}
		fs.all = append(fs.all, f)
	}
	fs.budget = budget{share: 0.03, recorded: 60, skipped: 4, unseen: 1, every: tickLeast}
	return &simulated{functions: fs, now: time.Unix(1e9, 0), called: make([]int64, count)}
}

// tick simulates 50 ms with the given numbers of calls per second of each function, on one fully
// used CPU, and returns the cost of the calls. Hidden functions are counted in the last of these
// milliseconds, in which there are fewer calls, because counting takes time.
func (s *simulated) tick(rates ...int64) (cost float64) {
	var all calls
	passed, slower := int64(0), 1.0
	for i, rate := range rates {
		if s.all[sys.FirstFunc+i].f.Hidden > 0 {
			slower += float64(rate) / 1e9 * (s.budget.skipped - s.budget.unseen)
		}
	}
	for i, rate := range rates {
		f := s.all[sys.FirstFunc+i]
		n, c := rate*tickNS/1e9, calls{}
		s.called[i] += n
		if f.f.Hidden > 0 {
			passed += n - n/50
			n = int64(float64(n) / 50 / slower)
		}
		if t := &s.page(f.number)[f.number%sharedPage]; f.off {
			c.skipped = n
		} else if c.recorded = min(n, max(t.Credit(), 0)); c.recorded < n {
			c.skipped = n - c.recorded
		}
		f.now.recorded += c.recorded
		f.now.skipped += c.skipped
		all.recorded += c.recorded
		all.skipped += c.skipped
	}
	s.now, s.cpu = s.now.Add(time.Duration(tickNS)), s.cpu+tickNS
	b := &s.budget
	unseen := s.guess(float64(tickNS), float64(tickNS/50))
	all.unseen, s.unseen = unseen-s.unseen, unseen
	own := b.own + int64(float64(all.recorded)*writeOut)
	b.account(float64(tickNS), s.cpu, own, all, 0)
	s.choose(s.now, float64(tickNS))
	return float64(all.recorded)*b.recorded + float64(all.skipped)*b.skipped + float64(passed)*b.unseen
}

// run simulates some seconds, and returns the part of the CPU time that calls cost.
func (s *simulated) run(seconds int, rates ...int64) float64 {
	sum := 0.0
	for range seconds * 20 {
		sum += s.tick(rates...)
	}
	return sum / float64(seconds) / 1e9
}

func (s *simulated) off() (list []bool) {
	for _, f := range s.all[sys.FirstFunc:] {
		list = append(list, f.off)
	}
	return list
}

// TestBudget simulates functions called at constant rates for a minute: the cheapest are recorded,
// and the total cost stays within the share.
func TestBudget(t *testing.T) {
	for _, c := range []struct {
		name  string
		rates []int64
		off   []bool
		most  float64
	}{
		{"all fit", []int64{1000, 100_000, 140_000}, []bool{false, false, false}, 0.03},
		{"one is too much", []int64{1000, 100_000, 2_000_000}, []bool{false, false, true}, 0.03},
		{"ten million calls", []int64{1000, 10_000_000}, []bool{false, true}, 0.03},
		{"more than can be counted", []int64{1000, 25_000_000}, []bool{false, true}, 0.03},
		{"the added lines are too much", []int64{1000, 100_000_000}, []bool{false, true}, 0.12},
		{"equal ones", []int64{300_000, 300_000, 300_000}, []bool{false, true, true}, 0.03},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simulate(len(c.rates))
			part := s.run(60, c.rates...)
			if part > c.most {
				t.Errorf("%.4f of the CPU time, want at most %v", part, c.most)
			}
			n := 0
			for i, off := range s.off() {
				if off != c.off[i] && c.name != "equal ones" {
					t.Errorf("function %d: off is %v", i, off)
				}
				if off == c.off[i] {
					n++
				}
			}
			if n == 0 {
				t.Errorf("off: %v", s.off())
			}
		})
	}
}

// TestUnseen simulates functions called so often that counting them costs too much. They are
// counted in samples, and the total number of calls is estimated well, also when rates change. A
// function that is called less often is counted each time, as are all when it is quiet.
func TestUnseen(t *testing.T) {
	s := simulate(3)
	for range 20 {
		s.run(1, 20_000_000, 30_000_000, 1_000_000)
		s.run(1, 40_000_000, 10_000_000, 1_000_000)
	}
	for i, hidden := range []bool{true, true, false} {
		f := s.all[sys.FirstFunc+i]
		n := f.now.recorded + f.now.skipped + f.now.unseen
		if off := float64(n)/float64(s.called[i]) - 1; off < -0.01 || off > 0.01 {
			t.Errorf("function %d: %d calls, want %d", i, n, s.called[i])
		}
		if f.sampled != hidden || (f.f.Hidden > 0) != hidden || (f.now.unseen > 0) != hidden {
			t.Errorf("function %d: sampled is %v, hidden %v, %d calls unseen", i, f.sampled, f.f.Hidden, f.now.unseen)
		}
	}
	s.run(5, 1000, 1000, 1000)
	if s.show() {
		t.Error("a function that has calmed down is sampled still")
	}
}

// TestCalmsDown: a function that is called too often, and then stops, is recorded again. One that
// changes all the time is not switched on and off at each tick.
func TestCalmsDown(t *testing.T) {
	s := simulate(1)
	s.run(5, 3_000_000)
	if !s.off()[0] {
		t.Fatal("it is on")
	}
	s.run(5, 10_000)
	if s.off()[0] {
		t.Fatal("it has calmed down, and is off")
	}
	changes, last := 0, false
	for range 300 {
		s.run(1, 3_000_000)
		if off := s.off()[0]; off != last {
			changes, last = changes+1, off
		}
		s.run(1, 10_000)
		if off := s.off()[0]; off != last {
			changes, last = changes+1, off
		}
	}
	if changes > 60 {
		t.Errorf("it was switched %d times in 600 s", changes)
	}
}

// TestBurst: a function is quiet, and then called as fast as possible: what it overspends is paid
// back.
func TestBurst(t *testing.T) {
	s := simulate(2)
	part := s.run(10, 0, 1000)
	sum := part * 10
	sum += s.run(1, 8_000_000, 1000)
	sum += s.run(9, 100_000, 1000)
	if sum/20 > 0.03 {
		t.Errorf("%.4f of the CPU time", sum/20)
	}
}
