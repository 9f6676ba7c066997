// Tables are made with a thousand buckets, and get nine hundred entries.
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

func (t *table) bucket(key uint64) int {
	h := (key ^ key>>7) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return int(h^h>>33) & (len(t.buckets) - 1)
}

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

const tables, entries = 1_000, 900

func main() {
	sum := uint64(0)
	all := make([]*table, tables)
	for i := range all {
		all[i] = newTable(1<<10, true)
		for key := range uint64(entries) {
			all[i].put(key, key)
		}
	}
	for range 10 {
		for _, t := range all {
			value, _ := t.get(3)
			sum += value
		}
	}
	fmt.Println(sum)
}
