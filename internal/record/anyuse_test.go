//go:build !scope_off

package record_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	. "github.com/scopeview/scopeview/scope"
)

// TestG12Misuse calls the API in any order, with anything: names of up to a mebibyte
// that are not UTF-8, nil arguments, scopes that are ended twice, on another
// goroutine, after Stop and in the next recording. There is no panic, each trace is
// valid, and every record and every misuse is counted.
func TestG12Misuse(t *testing.T) {
	rounds := 4
	switch {
	case faultfs.Full():
		rounds = 60
	case testing.Short(): // as in each build
		rounds = 1
	}
	calls, records := 0, int64(0)
	var misuse Misuse
	perBacking(t, func(t *testing.T, backing Option) {
		seed := rand.Uint64()
		m := newMisuser(seed)
		defer close(m.elsewhere)
		for round := range rounds {
			start(t, backing)
			m.begin()
			for range 300 {
				m.call()
			}
			m.stop()
			r := stop(t)
			for range 20 {
				m.endOne() // after Stop
			}
			s := Stats()
			if int64(len(r.events)) != m.records || s.Lost.Total() != 0 {
				t.Fatalf("seed %d, round %d: %d records, want %d; lost %+v", seed, round, len(r.events), m.records, s.Lost)
			}
			s.Misuse.ArgsCut = 0
			if s.Misuse != m.misuse {
				t.Fatalf("seed %d, round %d: counted %+v, want %+v", seed, round, s.Misuse, m.misuse)
			}
			records += m.records
			misuse.DoubleEnds += m.misuse.DoubleEnds
			misuse.ForeignEnds += m.misuse.ForeignEnds
			misuse.StaleEnds += m.misuse.StaleEnds
		}
		calls += m.calls
	})
	t.Logf("G12: %d calls, %d records, all there; counted: %d double ends, %d stale ones, %d elsewhere; no panic", calls, records, misuse.DoubleEnds, misuse.StaleEnds, misuse.ForeignEnds)
}

// misuser calls the API and predicts the result.
type misuser struct {
	r         *rand.Rand
	elsewhere chan func()
	done      chan bool
	noise     []byte // names are cut from it
	spans     []misused
	round     int
	stopped   bool
	calls     int
	records   int64
	misuse    Misuse
}

// misused is a scope that was begun.
type misused struct {
	end   func(args ...any)
	round int
	here  bool // on the test's goroutine
	ended bool
}

func newMisuser(seed uint64) *misuser {
	m := &misuser{r: rand.New(rand.NewPCG(seed, 1)), elsewhere: make(chan func()), done: make(chan bool), noise: make([]byte, 1<<20+1<<16)}
	for i := range m.noise {
		m.noise[i] = byte(m.r.IntN(3) * 127)
	}
	go func() {
		for f := range m.elsewhere {
			f()
			m.done <- true
		}
	}()
	return m
}

func (m *misuser) begin() {
	m.round++
	m.records, m.misuse, m.stopped = 0, Misuse{}, false
}

func (m *misuser) stop() { m.stopped = true }

// on runs f on this or the other goroutine.
func (m *misuser) on(here bool, f func()) {
	m.calls++
	if here {
		f()
		return
	}
	m.elsewhere <- f
	<-m.done
}

// name returns any string: mostly short, rarely very long, of any bytes.
func (m *misuser) name() string {
	n := m.r.IntN(20)
	switch m.r.IntN(100) {
	case 0:
		n = 1 << 20
	case 1:
		n = 1024 + m.r.IntN(3)
	}
	at := m.r.IntN(len(m.noise) - n)
	return string(m.noise[at : at+n])
}

// args returns any arguments.
func (m *misuser) args() (args []any) {
	for range m.r.IntN(6) * m.r.IntN(4) {
		args = append(args, []any{nil, 1, -1.5, math.NaN(), "text", m.name(), []int(nil), map[string]int{}, struct{}{}, error(nil),
			time.Duration(math.MinInt64), KV("", nil), KV(m.name(), KV("within", 1)), (*int)(nil), func() {}, uint64(math.MaxUint64), true, hostile{}}[m.r.IntN(18)])
	}
	return args
}

// call makes a random call.
func (m *misuser) call() {
	here := m.r.IntN(3) > 0
	keep := func(end func(...any)) {
		m.records++
		m.spans = append(m.spans, misused{end: end, round: m.round, here: here})
	}
	plain := func(f func()) func(...any) { return func(...any) { f() } }
	name, args := m.name(), m.args()
	switch m.r.IntN(12) {
	case 0, 1:
		m.on(here, func() { keep(plain(Task(name, args...))) })
	case 2:
		m.on(here, func() { keep(Begin(name, args...).End) })
	case 3:
		m.on(here, func() { keep(plain(Process(name, args...))) })
	case 4:
		m.on(here, func() { keep(plain(Pending(name, args...))) })
	case 5:
		m.on(here, func() { keep(plain(Taskf(strings.ToValidUTF8(name, "%"), args...))) })
	case 6:
		m.on(here, func() { Event(name, args...); m.records++ })
	case 7:
		m.on(here, func() { Counter(name, math.Inf(1)); m.records++ })
	case 8:
		m.on(here, func() { Track(name); Span{}.End(args...); m.records++ })
	case 9:
		m.on(here, func() { Stack(name, math.MinInt64) })
	default:
		m.endOne()
	}
}

// endOne ends any scope, on either goroutine, whatever its state.
func (m *misuser) endOne() {
	if len(m.spans) == 0 {
		return
	}
	s := &m.spans[max(0, len(m.spans)-1-m.r.IntN(60))]
	here := m.r.IntN(3) > 0
	switch {
	case m.stopped || s.round != m.round:
		m.misuse.StaleEnds++
	case s.ended:
		m.misuse.DoubleEnds++
	case here != s.here:
		m.misuse.ForeignEnds++
	}
	if s.round == m.round && !m.stopped {
		s.ended = true
	}
	args := m.args()
	m.on(here, func() { s.end(args...) })
}
