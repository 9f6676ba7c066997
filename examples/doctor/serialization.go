package main

import (
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

// numberer writes line numbers before the lines of a text, a block at a time. The number of
// a block's first line is known when the previous blocks are counted, and their worker sends
// it: the second of the talk's programs, where each worker waits for the result of the
// previous one.
type numberer struct {
	blocks []string
	first  []chan int // of each block, the number of its first line
	late   float64    // part of a block written before the next one's first number is sent
	sums   [processors]uint64
}

func (w *numberer) work(worker int) {
	var out []byte
	var rest string
	for i := worker; i < len(w.blocks); i += processors {
		block := w.blocks[i]
		lines := strings.Count(block, "\n")
		wait := scope.Task("wait for number", i)
		n := <-w.first[i]
		wait()
		end := scope.Task("number lines", i)
		before := int(w.late * float64(lines))
		var sum, sumOfRest uint64
		out, rest, sum = numberLines(out[:0], block, n, before)
		w.first[i+1] <- n + lines
		out, _, sumOfRest = numberLines(out, rest, n+before, lines-before)
		w.sums[worker] += sum + sumOfRest
		end()
	}
}

// numberLines appends the first lines of a text with their numbers and checksums, and
// returns the rest of the text and the sum of those.
func numberLines(out []byte, text string, n, lines int) (_ []byte, rest string, sum uint64) {
	for range lines {
		line, rest, _ := strings.Cut(text, "\n")
		digits := digest(uint64(n), line)
		out = append(strconv.AppendInt(out, int64(n), 10), ' ')
		out = append(strconv.AppendUint(append(out, line...), digits, 16), '\n')
		sum += digits
		if text = rest; len(out) > 64<<10 {
			out = out[:0] // written
		}
		n++
	}
	return out, text, sum
}

// serialization numbers the lines of a text. By strength, a worker writes more of its block
// before it sends the first number of the next one. Mended, it counts the lines first and
// sends the number at once.
func serialization(o options) func() uint64 {
	w := &numberer{blocks: make([]string, o.many(80))}
	const line, lines = 60, 125_000
	text := strings.Repeat(page(line-1)+"\n", lines+len(w.blocks))
	for i := range w.blocks {
		w.blocks[i] = text[:(lines+i)*line]
	}
	if !o.mended {
		away := 1 - o.strength
		w.late = 1 - 0.7*away*away*away*away
	}
	for range len(w.blocks) + 1 {
		w.first = append(w.first, make(chan int, 1))
	}
	return func() uint64 {
		w.first[0] <- 1
		inParallel(processors, w.work)
		return w.sums[0] + w.sums[1]
	}
}
