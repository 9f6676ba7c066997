package main

import (
	"github.com/scopeview/scopeview/scope"
)

// picture and the layer that is blended into it are larger than any cache: a filter
// that goes over all of them reads and writes memory.
type picture struct{ pixels, layer []uint64 }

// tile is the number of pixels that fit into a processor's cache with their layer.
const tile = 16 << 10

// filters are applied to each picture.
const filters = 8

// filter changes some of the pixels.
func (p picture) filter(n uint64, from, to int) {
	pixels, layer := p.pixels[from:to], p.layer[from:to]
	for i, x := range layer[:len(pixels)] {
		pixels[i] += x ^ n
	}
}

// develop applies all filters to a picture. The first ones process the whole picture one
// after the other; the others process it together, a tile at a time.
func (p picture) develop(apart int) {
	for n := range apart {
		end := scope.Task("filter", n)
		p.filter(uint64(n), 0, len(p.pixels))
		end()
	}
	if apart == filters {
		return
	}
	defer scope.Task("filters by tile", filters-apart)()
	for at := 0; at < len(p.pixels); at += tile {
		for n := apart; n < filters; n++ {
			p.filter(uint64(n), at, at+tile)
		}
	}
}

// memoryBandwidth develops pictures with two workers. By strength, more of the eight
// filters go over the whole picture one after the other, as they are written down: the
// third of the talk's programs, whose work takes more CPU time the more workers there
// are, because they share the way to memory. Mended, all filters go over a tile while
// it is in the cache.
//
// The first pictures are developed by one worker alone, as a sample.
func memoryBandwidth(o options) func() uint64 {
	samples, pictures := o.many(3), o.many(24)
	apart := o.part(filters)
	var own [processors]picture
	for i := range own {
		own[i] = picture{make([]uint64, 384*tile), make([]uint64, 384*tile)}
		for j := 0; j < len(own[i].pixels); j += 512 { // touches each page of memory
			own[i].pixels[j], own[i].layer[j] = uint64(j), uint64(j)*3
		}
	}
	return func() (sum uint64) {
		for range samples {
			own[0].develop(apart)
		}
		inParallel(processors, func(worker int) {
			for range pictures {
				own[worker].develop(apart)
			}
		})
		for _, p := range own {
			sum += p.pixels[len(p.pixels)-1]
		}
		return sum
	}
}
