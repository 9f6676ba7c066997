package rows

// running is a scope whose end has not come.
type running struct {
	end  int64
	seq  uint64
	row  *Row
	wait *wait // nil: not a wait
}

// before orders by end, and scopes with the same end from the inside out. But waits come
// last: a waiter gets the lock from a goroutine that released it, whose end must come
// before. A wait encloses nothing, so this misplaces only a scope that ends in the very
// nanosecond of its wait.
func (x *running) before(y *running) bool {
	if x.end != y.end {
		return x.end < y.end
	}
	if (x.wait != nil) != (y.wait != nil) {
		return y.wait != nil
	}
	return x.seq > y.seq
}

// ends is a heap of the running scopes.
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
