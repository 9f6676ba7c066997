package main

import (
	"github.com/scopeview/scopeview/scope"
)

// letter is an element of the queue.
type letter [128 << 10]uint64

// queue is the one at the end of the talk: its consumers copy letters in the critical
// section, and its producers clean used ones there.
type queue struct {
	mu     scope.Mutex
	full   []*letter
	taken  []*letter // to be cleaned
	inside int       // words of a letter that are copied and cleaned in the critical section
}

// blank returns a clean letter to write into.
func (q *queue) blank() *letter {
	q.mu.Lock()
	l := q.taken[len(q.taken)-1]
	q.taken = q.taken[:len(q.taken)-1]
	if q.inside > 0 {
		l.clean(0, q.inside)
	}
	q.mu.Unlock()
	if q.inside < len(l) {
		l.clean(q.inside, len(l))
	}
	return l
}

func (q *queue) put(l *letter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.full = append(q.full, l)
}

// take copies the next letter into the caller's own, and returns its checksum.
func (q *queue) take(own *letter) uint64 {
	q.mu.Lock()
	l := q.full[len(q.full)-1]
	q.full = q.full[:len(q.full)-1]
	sum := uint64(0)
	if q.inside > 0 {
		sum = l.copy(own, 0, q.inside, sum)
	}
	q.mu.Unlock()
	if q.inside < len(l) {
		sum = l.copy(own, q.inside, len(l), sum)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken = append(q.taken, l)
	return sum
}

func (l *letter) clean(from, to int) {
	defer scope.Task("clean", to-from)()
	for i := from; i < to; i++ {
		for l[i] != 0 {
			l[i] >>= 1
		}
	}
}

func (l *letter) copy(own *letter, from, to int, sum uint64) uint64 {
	defer scope.Task("copy", to-from)()
	for i := from; i < to; i++ {
		own[i] = l[i]
		for shift := 0; shift < 64; shift += 8 {
			sum = (sum ^ l[i]>>shift&255) * 0x100000001b3
		}
	}
	return sum
}

// fatCriticalSection has workers that write letters into a queue and take others out.
// By strength, part of the copying and cleaning is done in the critical section.
// Mended, it takes a pointer there and does both outside.
func fatCriticalSection(o options) func() uint64 {
	letters := o.many(230)
	q := &queue{mu: scope.Mutex{Name: "queue.mu"}, inside: o.part(len(letter{}))}
	for range 2 * processors {
		q.taken = append(q.taken, new(letter))
	}
	return func() uint64 {
		var sums [processors]uint64
		inParallel(processors, func(worker int) {
			own := new(letter)
			for n := worker; n < letters; n += processors {
				end := scope.Task("letter", n)
				l := q.blank()
				for i := range l {
					l[i] = uint64(n)<<32 | uint64(i)
				}
				q.put(l)
				sums[worker] += q.take(own)
				end()
			}
		})
		return sums[0] + sums[1]
	}
}
