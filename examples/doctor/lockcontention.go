package main

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// wordCounts is a table that all workers count words in, under one lock. This is the
// first of the talk's programs.
type wordCounts struct {
	mu    scope.Mutex
	count map[string]uint64
}

// add counts the words of a page. The critical section contains only necessary work: the
// problem is the single shared table.
func (c *wordCounts) add(words [][]byte) {
	if len(words) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	addWords(c.count, words)
}

func addWords(count map[string]uint64, words [][]byte) {
	for _, w := range words {
		count[string(w)]++
	}
}

// lockContention counts the words of pages. A worker counts part of a page's words,
// by strength, in the shared table. Mended, it counts all of them in a table of its
// own, and adds that to the shared one when it is done.
func lockContention(o options) func() uint64 {
	pages := textPages(64)
	counted := o.many(850)
	return func() uint64 {
		shared := wordCounts{mu: scope.Mutex{Name: "words.mu"}, count: make(map[string]uint64)}
		var next atomic.Int64
		inParallel(processors, func(int) {
			own := make(map[string]uint64)
			var words [][]byte
			for n := int(next.Add(1)) - 1; n < counted; n = int(next.Add(1)) - 1 {
				end := scope.Task("count page", n)
				words = splitWords(words[:0], pages[n%len(pages)])
				k := o.part(len(words))
				addWords(own, words[k:])
				shared.add(words[:k])
				end()
			}
			shared.mu.Lock()
			defer shared.mu.Unlock()
			for w, n := range own {
				shared.count[w] += n
			}
		})
		sum := uint64(0)
		for w, n := range shared.count {
			sum += digest(n, w) // in any order
		}
		return sum
	}
}

func splitWords(words [][]byte, page []byte) [][]byte {
	for w := range bytes.FieldsSeq(page) {
		words = append(words, w)
	}
	return words
}

// textPages are pages of very different lengths: were they alike, two workers would
// fall into step and never meet at the lock.
func textPages(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	pages := make([][]byte, n)
	for i := range pages {
		for range 1500 + r.IntN(27_000) {
			pages[i] = append(strconv.AppendInt(pages[i], int64(r.ExpFloat64()*20), 10), "th word "...)
		}
	}
	return pages
}
