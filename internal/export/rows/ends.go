package rows

import "github.com/scopeview/scopeview/internal/format"

// running is a scope whose end is still to come.
type running struct {
	end, start int64
	seq        uint64
	row        *Row
	key        uint64 // of the goroutine
	lock       uint64 // address; 0: neither a wait nor a hold
	wait       bool
	loc        format.Loc
}

// before orders by the end, and what ends at the same time from the inside out.
// But waits come last: who waited got the lock from somebody who released it, so
// that end has to be told before. A wait has nothing inside, so nothing is turned
// inside out by it but a scope that ends in the very nanosecond of its wait.
func (x *running) before(y *running) bool {
	if x.end != y.end {
		return x.end < y.end
	}
	if x.wait != y.wait {
		return y.wait
	}
	return x.seq > y.seq
}

// ends is a heap of what runs.
type ends struct {
	heap []running
	seq  uint64
}

func (h *ends) push(x running) {
	h.seq++
	x.seq = h.seq
	s := append(h.heap, x)
	i := len(s) - 1
	for ; i > 0 && x.before(&s[(i-1)/2]); i = (i - 1) / 2 {
		s[i] = s[(i-1)/2]
	}
	s[i] = x
	h.heap = s
}

func (h *ends) pop() running {
	s := h.heap
	top := s[0]
	n := len(s) - 1
	x := s[n]
	s[n] = running{}
	s = s[:n]
	h.heap = s
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && s[k+1].before(&s[k]) {
			k++
		}
		if !s[k].before(&x) {
			break
		}
		s[i] = s[k]
		i = k
	}
	if n > 0 {
		s[i] = x
	}
	return top
}
