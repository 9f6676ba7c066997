package main

import (
	"github.com/scopeview/scopeview/scope"
)

// picture is larger than any cache: a filter that goes over all of it reads and
// writes memory.
type picture []uint64

// tile is what fits into the cache of a processor: 128 KiB.
const tile = 16 << 10

// filters are what is done to each picture.
const filters = 8

// filter is one of them, on a tile.
func (p picture) filter(n int) {
	for i := range p {
		p[i] = p[i]*3 + uint64(n)
	}
}

// develop does all filters to a part of a picture. The first ones go over the whole
// part one after the other; the others go over it together, a tile at a time.
func (p picture) develop(apart int) {
	for n := range apart {
		end := scope.Task("filter", n)
		p.filter(n)
		end()
	}
	if apart == filters {
		return
	}
	defer scope.Task("filters by tile", filters-apart)()
	for at := 0; at < len(p); at += tile {
		for n := apart; n < filters; n++ {
			p[at : at+tile].filter(n)
		}
	}
}

// workInflation develops pictures with two workers. By strength, more of the eight
// filters go over the whole picture one after the other, as they are written down: the
// third of the talk's programs, whose work takes more CPU time the more workers there
// are, because they share the way to memory. Mended, all filters go over a tile while
// it is in the cache.
//
// The first pictures are developed by one worker alone, as a sample.
func workInflation(o options) func() uint64 {
	const samples, pictures = 2, 12
	apart := o.part(filters)
	var parts [processors]picture
	for i := range parts {
		parts[i] = make(picture, 512*tile)
		for j := range parts[i] {
			parts[i][j] = uint64(j)
		}
	}
	develop := func(worker, pictures int) {
		for range pictures {
			parts[worker].develop(apart)
		}
	}
	return func() (sum uint64) {
		develop(0, samples)
		inParallel(processors, func(worker int) {
			develop(worker, pictures)
		})
		for _, p := range parts {
			sum += p[len(p)-1]
		}
		return sum
	}
}
