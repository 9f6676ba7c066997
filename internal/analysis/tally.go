package analysis

import (
	"cmp"
	"math"
	"slices"
)

// Waiter is how often, and how long, something was waited for by goroutines in a
// scope, or while its holder was in one. Waits that have not ended count up to the
// last moment that the trace knows.
type Waiter struct {
	HolderKey
	Count, Time int64
	Share       float64 // of the time of all
}

func (w *Waiter) add(ns int64) {
	w.Count++
	w.Time += ns
}

// tally adds times up by what goroutines were in. That is one scope or two for most locks,
// of which there may be as many as records. So it has a map only where it has more.
type tally struct {
	list  []Waiter
	index map[HolderKey]int32 // into list
}

// noIndex is how many a tally finds without a map.
const noIndex = 8

// at returns the entry of what a goroutine was in. What is beyond the first most counts as
// not known.
func (t *tally) at(k HolderKey, most int) *Waiter {
	w := t.find(k)
	if w == nil && len(t.list) >= most {
		k = HolderKey{Unknown: true}
		w = t.find(k)
	}
	if w == nil {
		w = t.insert(k)
	}
	return w
}

// merge adds what o has.
func (t *tally) merge(o *tally) {
	for i := range o.list {
		w := t.at(o.list[i].HolderKey, math.MaxInt)
		w.Count += o.list[i].Count
		w.Time += o.list[i].Time
	}
}

func (t *tally) find(k HolderKey) *Waiter {
	if t.index != nil {
		if i, ok := t.index[k]; ok {
			return &t.list[i]
		}
		return nil
	}
	for i := range t.list {
		if t.list[i].HolderKey == k {
			return &t.list[i]
		}
	}
	return nil
}

func (t *tally) insert(k HolderKey) *Waiter {
	t.list = append(t.list, Waiter{HolderKey: k})
	if len(t.list) > noIndex {
		if t.index == nil {
			t.index = map[HolderKey]int32{}
			for i := range t.list {
				t.index[t.list[i].HolderKey] = int32(i)
			}
		}
		t.index[k] = int32(len(t.list) - 1)
	}
	return &t.list[len(t.list)-1]
}

// shares lists what goroutines were in, that with the most time first.
func (t *tally) shares() []Waiter {
	var sum int64
	for i := range t.list {
		sum += t.list[i].Time
	}
	list := slices.Clone(t.list)
	for i := range list {
		if sum > 0 {
			list[i].Share = float64(list[i].Time) / float64(sum)
		}
	}
	slices.SortFunc(list, func(a, b Waiter) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(btoi(a.Unknown), btoi(b.Unknown)))
	})
	return list
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
