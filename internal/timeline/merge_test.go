package timeline

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// mergeExample is an example of testdata/merge.json, which the page's tests read too.
type mergeExample struct {
	Name  string
	Res   int64
	Items [][]any // start, duration, "wait" if it is one
	Runs  []int   // number of items of each run, by the rule
	Apart []int   // the same for a tile, which keeps waits separate; none: as Runs
}

func (e *mergeExample) lane() *lane {
	l := &lane{}
	for _, it := range e.Items {
		s := &scope{kind: format.KindTask, start: int64(it[0].(float64)), dur: int64(it[1].(float64))}
		if len(it) > 2 {
			s.kind = format.KindWait
		}
		l.put(s)
	}
	return l
}

// states returns the items as states of a goroutine; nil if they have gaps.
func (e *mergeExample) states() *States {
	s := newStates(nil)
	end := int64(0)
	for i, it := range e.Items {
		start, dur := int64(it[0].(float64)), int64(it[1].(float64))
		if i > 0 && start != end || dur == 0 {
			return nil
		}
		end = start + dur
		s.add(&states.Interval{Goid: 1, From: start, To: end})
	}
	s.finish()
	return s
}

func TestMergeExamples(t *testing.T) {
	b := filetest.Read(t, "testdata/merge.json")
	var list []mergeExample
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	touching := 0
	for _, e := range list {
		want := e.Apart
		if want == nil {
			want = e.Runs
		}
		var got []int
		e.lane().runs(math.MinInt64, math.MaxInt64, e.Res, func(r *run) { got = append(got, int(r.count)) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", e.Name, got, want)
		}
		s := e.states()
		if s == nil {
			continue
		}
		touching++
		got = nil
		for _, row := range s.rows {
			s.runs(row, math.MinInt64, math.MaxInt64, e.Res, func(r *stateRun) { got = append(got, r.count) })
		}
		if !slices.Equal(got, e.Runs) {
			t.Errorf("%s, as states: %v, want %v", e.Name, got, e.Runs)
		}
	}
	if touching < 3 {
		t.Errorf("only %d examples are of states", touching)
	}
}

// TestMergeAnywhere: a part has what the whole has there, at any resolution and whatever
// levels there are, for items and for states.
func TestMergeAnywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 2))
	l, s := &lane{}, newStates(nil)
	now := int64(-5000)
	end := now
	for range 20_000 {
		dur := rnd.Int64N(int64(1) << (1 + rnd.IntN(10)))
		l.put(&scope{kind: format.KindTask, start: now, dur: dur})
		s.add(&states.Interval{Goid: 1, From: end, To: end + dur + 1})
		end += dur + 1
		now += dur + rnd.Int64N(int64(1)<<rnd.IntN(8))
	}
	l.prepare()
	s.finish()
	row := s.rows[0]
	type part struct{ start, end, count, busy int64 }
	for k := 1; k < 20; k++ {
		res := int64(1) << k
		var whole []part // by the text of the rule
		wide := true
		for i := range l.n {
			it := l.at(i)
			d, n := l.durOf(i, it), len(whole)
			stretch := func(t int64) int64 { return int64(math.Floor(float64(t) / float64(4*res))) }
			if d < res && !wide && it.start-whole[n-1].end < res && stretch(it.start) == stretch(whole[n-1].start) {
				whole[n-1].end = it.start + d
				whole[n-1].count++
				whole[n-1].busy += d
			} else {
				whole = append(whole, part{it.start, it.start + d, 1, d})
				wide = d >= res
			}
		}
		var merged []part
		s.runs(row, math.MinInt64, math.MaxInt64, res, func(u *stateRun) { merged = append(merged, part{u.start, u.end, int64(u.count), 0}) })
		for range 30 {
			from := rnd.Int64N(now+6000) - 6000
			to := from + rnd.Int64N(4*res+1000)
			if rnd.IntN(10) == 0 {
				from, to = -1<<62, 1<<62
			}
			var got, gotStates []part
			l.runs(from, to, res, func(r *run) { got = append(got, part{r.start, r.end, int64(r.count), r.sum()}) })
			want := slices.DeleteFunc(slices.Clone(whole), func(p part) bool { return p.end < from || p.start > to })
			if !slices.Equal(got, want) {
				t.Fatalf("at %d, [%d, %d]\n got %v\nwant %v", res, from, to, got, want)
			}
			s.runs(row, from, to, res, func(u *stateRun) { gotStates = append(gotStates, part{u.start, u.end, int64(u.count), 0}) })
			want = slices.DeleteFunc(slices.Clone(merged), func(p part) bool { return p.end <= from || p.start > to })
			if !slices.Equal(gotStates, want) {
				t.Fatalf("states at %d, [%d, %d]\n got %v\nwant %v", res, from, to, gotStates, want)
			}
		}
	}
	if l.rare == nil || len(l.rare.levels.list) < 2 {
		t.Error("there are no levels")
	}
}
