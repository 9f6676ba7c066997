package pool

import (
	"errors"
)

// run is the n numbers from idx on.
type run struct{ idx, n int64 }

// neighbours joins numbers to runs.
func neighbours(idx []int64) (runs []run) {
	for _, i := range idx {
		if n := len(runs); n > 0 && runs[n-1].idx+runs[n-1].n == i {
			runs[n-1].n++
		} else {
			runs = append(runs, run{i, 1})
		}
	}
	return runs
}

// extent is n chunks that are neighbours by number and by place.
type extent struct{ idx, at, n int64 }

// each calls f for every extent of the chunks [from, to), and joins the errors.
func (p *Pool) each(from, to int64, f func(s extent) error) error {
	var errs []error
	for _, s := range p.lay.extents(from, to) {
		errs = append(errs, f(s))
	}
	return errors.Join(errs...)
}

// Rearm makes the window and the chunks in open writable again where the
// kernel has write-protected them: it does so some 30 s after a page was
// written, and the next store would take a fault.
func (p *Pool) Rearm(open []int64) error {
	runs := neighbours(open)
	if from, to := p.Bump(), p.end.Load(); from < to {
		runs = append(runs, p.lay.ahead(from, to)...)
	}
	var errs []error
	for _, r := range runs {
		errs = append(errs, p.back.rearm(r.idx, r.n))
	}
	return errors.Join(errs...)
}

// Save starts to write the chunks [from, to) out, or, where the file is a copy, updates its copies
// of them; final means that they will not change any more.
func (p *Pool) Save(from, to int64, final bool) error {
	return p.each(from, to, func(s extent) error { return p.back.save(s, final) })
}

// Drop waits for what Save began and drops the chunks' memory.
func (p *Pool) Drop(from, to int64) error {
	err := p.each(from, to, p.back.drop)
	p.tidy()
	return err
}

// ReadPlace fills b with the file's contents at a place, and the rest with zeros.
func (p *Pool) ReadPlace(b []byte, at int64) {
	clear(b)
	if p.copies != nil && p.copies.isStale(at) {
		return
	}
	if f, off := p.file.at(at); f != nil {
		_, _ = f.ReadAt(b, off)
	}
}
