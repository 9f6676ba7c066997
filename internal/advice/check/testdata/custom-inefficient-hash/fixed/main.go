// The hash function of a table spreads keys that are multiples of 64.
package main

import (
	"fmt"

	"github.com/scopeview/scopeview/scope/containers"
)

// table is a hash table with chaining.
type table struct {
	buckets []*entry
	size    int
	follow  containers.Instance
}

type entry struct {
	key, value uint64
	next       *entry
}

func newTable(buckets int, hinted bool) *table {
	return &table{
		buckets: make([]*entry, buckets),
		follow:  containers.New(containers.Spec{Name: "index", Table: true, Slots: buckets, SlotBytes: 8, Hinted: hinted}),
	}
}

func (t *table) bucket(key uint64) int { return int(key*0x9e3779b97f4a7c15>>32) & (len(t.buckets) - 1) }

func (t *table) get(key uint64) (value uint64, found bool) {
	places := 0
	for e := t.buckets[t.bucket(key)]; e != nil; e = e.next {
		if places++; e.key == key {
			t.follow.Get(places, true)
			return e.value, true
		}
	}
	t.follow.Get(places, false)
	return 0, false
}

func (t *table) put(key, value uint64) {
	if t.size == len(t.buckets) {
		t.grow()
	}
	b, places := t.bucket(key), 1
	for e := t.buckets[b]; e != nil; e = e.next {
		if places++; e.key == key {
			e.value = value
			t.follow.Put(places, t.size)
			return
		}
	}
	t.buckets[b] = &entry{key, value, t.buckets[b]}
	t.size++
	t.follow.Put(places, t.size)
	t.follow.Chain(b, places)
}

func (t *table) grow() {
	old := t.buckets
	t.buckets = make([]*entry, 2*len(old))
	for _, e := range old {
		for e != nil {
			next, b := e.next, t.bucket(e.key)
			e.next, t.buckets[b] = t.buckets[b], e
			e = next
		}
	}
	t.follow.Grow(len(old), len(t.buckets), t.size)
}

const entries = 10_000

// The keys are addresses of objects of 64 bytes.
func main() {
	t := newTable(1<<14, true)
	sum := uint64(0)
	for key := range uint64(entries) {
		t.put(key*64, key)
	}
	for range 1_000 {
		for i := range uint64(entries) {
			value, _ := t.get(i * 7919 % entries * 64)
			sum += value
		}
	}
	fmt.Println(sum)
}
