package main

import (
	"strings"
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// tally counts letters of documents by kind, so that it can be read meanwhile.
type tally [4]atomic.Uint64

func (t *tally) count(document string) {
	for i := range len(document) {
		t[document[i]&3].Add(1)
	}
}

// workInflation counts letters with two workers. By strength, a larger part of each
// line is counted in tallies that lie side by side: each belongs to one worker, but
// they share a cache line, which goes to and fro between the processors, so that
// counting takes more CPU time when both do it. Mended, the tallies lie apart.
//
// The first documents are counted by one worker alone, as a sample.
func workInflation(o options) func() uint64 {
	samples, documents := o.many(300), o.many(2000)
	lines := strings.SplitAfter(strings.Repeat(page(299)+"\n", 100), "\n")
	side := o.part(300)
	return func() (sum uint64) {
		var tallies [processors]struct {
			tally
			_ [128]byte
		}
		beside := make([]tally, processors)
		count := func(worker, n int) {
			defer scope.Task("count letters", n)()
			for _, line := range lines[:100] {
				beside[worker].count(line[:side])
				tallies[worker].count(line[side:])
			}
		}
		for n := range samples {
			count(0, n)
		}
		inParallel(processors, func(worker int) {
			for n := range documents {
				count(worker, n)
			}
		})
		for worker := range tallies {
			for kind := range beside[worker] {
				n := beside[worker][kind].Load() + tallies[worker].tally[kind].Load()
				sum += n << (16 * kind)
			}
		}
		return sum
	}
}
