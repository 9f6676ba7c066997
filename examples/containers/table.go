package main

import "github.com/scopeview/scopeview/scope/containers"

// Table is a hash table with chaining. It grows when there are as many elements as buckets.
type Table struct {
	buckets [][]pair
	hash    func(string) uint32
	size    int
	follow  containers.Instance
}

type pair struct {
	key   string
	value int
}

// NewTable returns a table with n buckets.
func NewTable(buckets int, hash func(string) uint32) *Table {
	return &Table{
		buckets: make([][]pair, buckets),
		hash:    hash,
		follow:  containers.New(containers.Spec{Name: "Table", Table: true, Slots: buckets, SlotBytes: 24}),
	}
}

// Len returns the number of elements.
func (t *Table) Len() int { return t.size }

func (t *Table) bucket(key string) int { return int(t.hash(key) % uint32(len(t.buckets))) }

// Get returns the value of a key.
func (t *Table) Get(key string) (value int, found bool) {
	chain := t.buckets[t.bucket(key)]
	for i := range chain {
		if chain[i].key == key {
			t.follow.Get(i+1, true)
			return chain[i].value, true
		}
	}
	t.follow.Get(len(chain), false)
	return 0, false
}

// Put sets the value of a key.
func (t *Table) Put(key string, value int) {
	if t.size == len(t.buckets) {
		t.grow()
	}
	b := t.bucket(key)
	chain := t.buckets[b]
	for i := range chain {
		if chain[i].key == key {
			chain[i].value = value
			t.follow.Put(i+1, t.size)
			return
		}
	}
	t.buckets[b] = append(chain, pair{key, value})
	t.size++
	t.follow.Put(len(chain)+1, t.size)
	t.follow.Chain(b, len(chain)+1)
}

// grow doubles the buckets, and moves each element to its new one.
func (t *Table) grow() {
	old := t.buckets
	t.buckets = make([][]pair, 2*len(old))
	for _, chain := range old {
		for _, p := range chain {
			b := t.bucket(p.key)
			t.buckets[b] = append(t.buckets[b], p)
		}
	}
	t.follow.Grow(len(old), len(t.buckets), t.size)
}
