package mmpool

import (
	"errors"
)

// neighbours joins numbers to runs of (first, how many).
func neighbours(idx []int64) (runs [][2]int64) {
	for _, i := range idx {
		if n := len(runs); n > 0 && runs[n-1][0]+runs[n-1][1] == i {
			runs[n-1][1]++
		} else {
			runs = append(runs, [2]int64{i, 1})
		}
	}
	return runs
}

// span is chunks that are neighbours by number and by place.
type span struct{ idx, at, n int64 }

// spans are the chunks [from, to), as neighbours.
func (p *Pool) spans(from, to int64) (s []span) {
	if p.ring == nil {
		return []span{{from, from, to - from}}
	}
	for idx := from; idx < to; idx++ {
		at := p.placeOf(idx)
		if at < 0 {
			continue
		}
		if n := len(s); n > 0 && s[n-1].idx+s[n-1].n == idx && s[n-1].at+s[n-1].n == at && !p.begins(at) {
			s[n-1].n++
		} else {
			s = append(s, span{idx, at, 1})
		}
	}
	return s
}

// begins tells whether a place is the first one in a file.
func (p *Pool) begins(at int64) bool {
	if p.files == nil {
		return false
	}
	_, chunks, _ := p.files.shape()
	return (at-1)%chunks == 0
}

// ReadPlace fills b with what the file has at a place, as far as it has that.
func (p *Pool) ReadPlace(b []byte, at int64) {
	clear(b)
	if f, off := (file{p.file, p.files}).at(at); f != nil {
		_, _ = f.ReadAt(b, off)
	}
}

// each calls f for every span, and returns the first error.
func (p *Pool) each(from, to int64, f func(s span) error) error {
	if p.ring == nil {
		return f(span{from, from, to - from})
	}
	var errs []error
	for _, s := range p.spans(from, to) {
		if err := f(s); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// ahead is the prepared chunks, by number.
func (p *Pool) ahead() (runs [][2]int64) {
	from, to := p.Bump(), p.end.Load()
	if from >= to {
		return nil
	}
	if p.ring == nil {
		return [][2]int64{{from, to}}
	}
	a, b := p.ring.number(from), p.ring.number(to-1)
	if a <= b {
		return [][2]int64{{a, b + 1}}
	}
	return [][2]int64{{a, p.ring.lap + 1}, {1, b + 1}}
}

// Size is what the file needs to be to hold what was handed out, in bytes.
func (p *Pool) Size() int64 {
	r := p.ring
	if r == nil {
		return p.Bytes()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.advance()
	return r.used * ChunkSize
}
