package unwind

import "encoding/binary"

// Walk appends the addresses of a stack: the sampled instruction, and addresses within the
// calls of its callers. UnknownCaller marks missing callers; Truncated at the end marks that
// the kernel kept no more.
func Walk(dst []uint64, s *Stack, text Text, c *Cache) []uint64 {
	if len(s.PCs) == 0 {
		return dst
	}
	w := walk{Stack: s, text: text, cache: c, dst: append(dst, s.PCs[0]), chain: s.PCs[1:], cut: s.Cut, at: s.PCs[0], leaf: true}
	for range mostFrames { // a stack's words may lead in circles
		if !w.step() {
			break
		}
	}
	return w.dst
}

const mostFrames = 1 << 12

// walk is the state of a walk: the frame whose caller is searched.
type walk struct {
	*Stack
	text   Text
	cache  *Cache
	dst    []uint64
	chain  []uint64 // remaining return addresses
	cut    bool     // there may be more of them
	at     uint64   // an address in the code of the frame
	callee uint64   // an address in the code of the frame that it called
	sp     int      // the frame's stack pointer, an index into Words; -1: unknown
	leaf   bool
}

// step goes to the caller, and reports whether there is one.
func (w *walk) step() bool {
	switch rule := w.cache.rule(w.text, w.at); rule.How {
	case Outermost:
		return false
	case ByPointer:
		w.sp = -1
		return w.chained(possible) || w.lose()
	case OnStack:
		ret, ok := w.word(rule.Offset)
		if rule.Clobbered {
			w.chain, w.cut = nil, false
		}
		return ok && w.link(ret, possible) || w.lose()
	case InLink:
		w.sp = -1
		return w.leaf && w.link(w.Link, possible) || w.lose()
	}
	// Without a rule it is unknown whether there is a frame, so only a direct call identifies
	// the caller.
	ret, ok := w.word(0)
	if w.leaf && ok && w.link(ret, direct) {
		return true
	}
	w.sp = -1
	return w.chained(direct) || w.lose()
}

// chained goes to the caller for the next return address of the chain.
func (w *walk) chained(least proof) bool {
	if len(w.chain) == 0 || !w.link(w.chain[0], least) {
		return false
	}
	w.chain = w.chain[1:]
	return true
}

// word returns the word at an offset from the stack pointer, and moves the stack pointer past
// it.
func (w *walk) word(offset uint64) (uint64, bool) {
	if w.sp < 0 || offset > uint64(len(w.Words)) || w.sp+int(offset)+8 > len(w.Words) {
		w.sp = -1
		return 0, false
	}
	at := w.sp + int(offset)
	w.sp = at + 8
	return binary.LittleEndian.Uint64(w.Words[at:]), true
}

// link goes to the caller for return address ret, if there is at least that proof of its call.
func (w *walk) link(ret uint64, least proof) bool {
	l := w.cache.link(w.text, ret, w.at)
	if l.proof < least {
		return false
	}
	if l.jump != 0 {
		w.dst = append(w.dst, l.jump)
	}
	w.to(ret)
	return true
}

func (w *walk) to(ret uint64) {
	w.callee, w.at, w.leaf = w.at, ret-1, false
	w.dst = append(w.dst, w.at)
}

// lose skips unknown callers and goes to the next known frame.
func (w *walk) lose() bool {
	w.sp = -1
	known := -1
	for i, ret := range w.chain {
		if w.cache.link(w.text, ret, 0).proof != refuted {
			known = i
			break
		}
	}
	switch {
	case known >= 0:
		w.dst = append(w.dst, UnknownCaller)
		ret := w.chain[known]
		w.chain = w.chain[known+1:]
		w.to(ret)
		return true
	case w.cut:
		w.dst = append(w.dst, Truncated)
	case w.callee == 0 || !w.text.Begin(w.callee):
		w.dst = append(w.dst, UnknownCaller)
	}
	return false
}
