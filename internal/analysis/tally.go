package analysis

import (
	"cmp"
	"math"
	"slices"
)

// Waiter sums up the waits of goroutines in a scope, or those while the holder was in one.
// Waits that have not ended count up to the trace's last moment.
type Waiter struct {
	HolderKey
	Count, Time int64
	Share       float64 // of the total time
}

func (w *Waiter) add(ns int64) {
	w.Count++
	w.Time += ns
}

// tally sums up times by scope. Most locks, of which there may be as many as records, have
// one scope or two, so it has a map only for more.
type tally struct {
	list  []Waiter
	index map[HolderKey]int32 // indexes of list
}

// noIndex is the number of entries that are searched without a map.
const noIndex = 8

// at returns the entry of a scope. Scopes beyond the first most count as unknown.
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

// merge adds the entries of o.
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

// shares returns the entries, those with the most time first.
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
