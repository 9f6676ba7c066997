package main

import (
	"github.com/scopeview/scopeview/scope"
)

// pageFaults draws pictures, each into a buffer. By strength, a larger part of the
// buffer is new memory from the system, which hands it out page by page as each is
// first touched, and which takes it back afterwards. Mended, a worker keeps its buffer.
func pageFaults(o options) func() uint64 {
	const size, parts = 2 << 20, 64
	pictures := o.many(500)
	fresh := o.part(parts)
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			kept := make([]byte, size)
			for n := worker; n < pictures; n += processors {
				end := scope.Task("picture", n)
				buffer, free := newMemory(fresh * size / parts)
				for i := range fresh {
					sums[worker] += draw(buffer[i*size/parts:(i+1)*size/parts], n)
				}
				free()
				for i := fresh; i < parts; i++ {
					sums[worker] += draw(kept[i*size/parts:(i+1)*size/parts], n)
				}
				end()
			}
		})
		return sums[0] + sums[1]
	}
}

// draw fills a part of a picture.
func draw(buffer []byte, n int) uint64 {
	for i := range buffer {
		buffer[i] = byte(i>>4 ^ n)
	}
	return uint64(buffer[len(buffer)/2])
}
