package timeline

// runList has many runs, in blocks as a lane has its items.
type runList struct {
	blocks [][]run
	n      int
}

func (x *runList) at(i int) *run {
	b, k := blockOf(i)
	return &x.blocks[b][k]
}

func (x *runList) push(r *run) {
	if n := len(x.blocks); n > 0 {
		if last := x.blocks[n-1]; len(last) < cap(last) {
			x.blocks[n-1] = append(last, *r)
			x.n++
			return
		}
	}
	n := len(x.blocks)
	var block []run
	if cap(x.blocks) > n {
		block = x.blocks[:n+1][n]
	}
	if block == nil {
		block = make([]run, 0, 2<<min(n, growing-1))
	}
	x.blocks = append(x.blocks, append(block, *r))
	x.n++
}

// give gives the runs from first to end to a merger.
func (x *runList) give(m *merger, first, end int) {
	for i := first; i < end; {
		b, k := blockOf(i)
		block := x.blocks[b][k:]
		block = block[:min(len(block), end-i)]
		m.cells(block)
		i += len(block)
	}
}

// cut takes away the runs from the n-th on.
func (x *runList) cut(n int) {
	for x.n > n {
		k := len(x.blocks) - 1
		last := x.blocks[k]
		less := min(x.n-n, len(last))
		x.n -= less
		if less < len(last) {
			x.blocks[k] = last[:len(last)-less]
		} else {
			x.blocks[k] = last[:0] // for push
			x.blocks = x.blocks[:k]
		}
	}
}
