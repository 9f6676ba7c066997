// Containers has its own hash table and ring buffer, which report their operations to
// scopeview: its advice covers both, like Go's slices and maps.
package main

import (
	"flag"
	"fmt"
)

func main() {
	mended := flag.Bool("mended", false, "make the table and the ring as the advice has it, with a better hash function")
	flag.Parse()
	fmt.Println("words:", words(*mended))
	fmt.Println("jobs: ", jobs(*mended))
}

// words counts words in a table.
func words(mended bool) int {
	buckets, hash := 8, letters
	if mended {
		buckets, hash = 1<<15, fnv
	}
	t := NewTable(buckets, hash)
	for i := range 200_000 {
		t.Put(fmt.Sprintf("word-%d", i%20_000), i)
	}
	found := 0
	for i := range 20_000 {
		if _, ok := t.Get(fmt.Sprintf("word-%d", 2*i)); ok {
			found++
		}
	}
	return t.Len() + found
}

// letters is a poor hash function: words of the same letters have the same hash.
func letters(key string) (h uint32) {
	for i := range len(key) {
		h += uint32(key[i]) * 31
	}
	return h
}

// fnv is a hash function.
func fnv(key string) uint32 {
	h := uint32(2166136261)
	for i := range len(key) {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return h
}

// jobs puts many jobs into rings.
func jobs(mended bool) int {
	slots := 4
	if mended {
		slots = 1 << 16
	}
	sum := 0
	for range 20 {
		r := NewRing(slots)
		for i := range 50_000 {
			r.Push(i)
		}
		for r.Len() > 0 {
			sum += r.Pop()
		}
		r.Close()
	}
	return sum
}
