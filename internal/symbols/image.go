package symbols

import (
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// Frames returns the functions at an address, the innermost first: the inlined ones, and
// the one whose code it is. It returns nil if no function is known.
func (im *Image) Frames(pc uint64) (list []Frame) {
	if f := im.goFunc(pc); f != nil {
		return im.goFrames(f, pc)
	}
	sym, u := im.symbolAt(pc), im.unitAt(pc)
	if u == nil {
		if sym == nil {
			return nil
		}
		return []Frame{{Func: sym.name}}
	}
	r, id := u.lineAt(pc), u.scopeAt(pc)
	f := Frame{File: r.file, Line: r.line, Disc: r.disc}
	for range deepestInlining {
		if id == outermost {
			break
		}
		s := &u.scopes[id]
		f.Func, f.Start = s.called(), s.start
		if s.into == outermost {
			break
		}
		f.Inlined = true
		list = append(list, f)
		f = Frame{File: s.file, Line: s.line, Disc: s.disc}
		id = s.into
	}
	entry, to := pc, pc
	switch {
	case id != outermost:
		entry, to = u.scopes[id].entry, u.scopes[id].end
		f.Func = u.scopes[id].symbol(sym)
	case sym != nil: // clang -gline-tables-only has functions only where calls were inlined
		f.Func, entry, to = sym.name, sym.addr, sym.to
	default:
		return nil
	}
	if f.Start == 0 {
		f.Start = im.guess(u, entry)
	}
	f.Prologue = pc >= entry && pc < u.prologueEnd(entry, to)
	return append(list, f)
}

// called returns the linker's name of a function.
func (o *origin) called() string {
	if o.linkage != "" {
		return o.linkage
	}
	return o.name
}

// symbol returns the name of the function whose code it is. With gcc the linker's names of
// C++'s static functions are only in the symbol table.
func (s *scope) symbol(at *symbol) string {
	if s.linkage == "" && at != nil && at.addr == s.entry && strings.HasPrefix(at.name, "_Z") {
		return at.name
	}
	return s.called()
}

// guess returns the line of a function's first instruction.
func (im *Image) guess(u *unit, entry uint64) int {
	line, ok := im.guesses[entry]
	if !ok {
		line = u.lineAt(entry).line
		im.guesses[entry] = line
		if line != 0 {
			im.Guessed++
		}
	}
	return line
}

// Inlining reports whether Go's table has the inlined calls.
func (im *Image) Inlining() bool { return im.Go != nil && len(im.Go.data.data) > 0 }

// goFunc returns the function of Go's table that contains an address, or nil.
func (im *Image) goFunc(pc uint64) *Func {
	if im.Go == nil {
		return nil
	}
	f, _, _ := im.Go.At(pc)
	return f
}

func (im *Image) goFrames(f *Func, pc uint64) (list []Frame) {
	list = im.Go.Frames(pc)
	if u := im.unitAt(pc); u != nil && len(list) > 0 {
		list[len(list)-1].Prologue = pc < u.prologueEnd(f.Entry, f.End)
	}
	return list
}

// Entry returns the function whose first instruction is at an address, or "" if there is
// none.
func (im *Image) Entry(pc uint64) string {
	if f := im.goFunc(pc); f != nil {
		if f.Entry == pc {
			return f.Name
		}
		return ""
	}
	if u := im.unitAt(pc); u != nil {
		id := u.scopeAt(pc)
		for id != outermost && u.scopes[id].into != outermost {
			id = u.scopes[id].into
		}
		if id != outermost && u.scopes[id].entry == pc {
			return u.scopes[id].symbol(im.symbolAt(pc))
		}
	}
	if s := im.symbolAt(pc); s != nil && s.addr == pc {
		return s.name
	}
	return ""
}

// Frameless reports whether the function may have no frame of its own on the stack at an
// address. A walk by frame pointers then misses its caller.
func (im *Image) Frameless(pc uint64) bool {
	rule := im.code.Rule(pc)
	if rule.How == unwind.Unknown { // decide by the prologue
		list := im.Frames(pc)
		return len(list) > 0 && list[len(list)-1].Prologue
	}
	return rule.How == unwind.OnStack || rule.How == unwind.InLink
}

// Prologues reports whether any unit read so far has the ends of its prologues.
func (im *Image) Prologues() bool {
	for _, u := range im.units {
		if len(u.prologues) > 0 {
			return true
		}
	}
	return false
}

// Stretch returns an address after pc up to which Frames returns the same as for pc.
func (im *Image) Stretch(pc uint64) uint64 {
	to := behind(im.edges, pc)
	if u := im.unitAt(pc); u != nil {
		to = min(to, behind(u.edges, pc))
	}
	if f := im.goFunc(pc); f != nil {
		to = min(to, im.Go.stretch(f, pc))
	}
	return to
}

// behind returns the first of sorted addresses that is greater than pc.
func behind(edges []uint64, pc uint64) uint64 {
	i := sort.Search(len(edges), func(k int) bool { return edges[k] > pc })
	if i == len(edges) {
		return ^uint64(0)
	}
	return edges[i]
}

// stretch returns the address up to which the places of pc, which is in f, are the same by
// Go's table.
func (b *Binary) stretch(f *Func, pc uint64) uint64 {
	end := f.End
	b.table.refill()
	b.table.lines(f, func(_, to uint64, _ string, _ int) bool {
		if pc < to {
			end = min(end, to)
		}
		return pc >= to
	})
	if off := f.info.inlined; off != none && off != 0 && uint64(off) < uint64(len(b.table.steps)) {
		w := walk{b: b.table.steps[off:], value: -1, to: f.Entry, first: true}
		for b.table.next(&w) {
			if pc < w.to {
				return min(end, w.to)
			}
		}
	}
	return end
}
