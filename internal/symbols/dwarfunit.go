package symbols

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"io"
	"slices"
	"sort"
	"strings"
)

// unit is the DWARF data of a compilation unit, read on the first lookup of one of its
// addresses.
type unit struct {
	clang     bool       // discriminators are LLVM's, which are packed
	lines     []codeLine // by from
	prologues []uint64
	files     []*dwarf.LineFile
	scopes    []scope
	parts     []part   // by from, none overlap
	edges     []uint64 // begins and ends of all of these, sorted
}

// codeLine is code of one line.
type codeLine struct {
	from, to uint64
	file     string
	line     int
	disc     int32
}

// scope is a function, or an inlined call.
type scope struct {
	origin
	entry, end uint64 // its first stretch of code
	// For an inlined call:
	into int32 // the scope that contains it; none for a function
	file string
	line int
	disc int32
}

// origin is the DWARF data about a function.
type origin struct {
	linkage, name string
	start         int
}

// part is code of a scope that is not in an inner scope.
type part struct {
	from, to uint64
	scope    int32
	depth    int32
}

const (
	outermost = -1
	// mostParts limits the stretches of code in a unit: in a hostile one many functions may
	// refer to one long list.
	mostParts = 1 << 22
	// discriminator is DW_AT_GNU_discriminator, of a call.
	discriminator dwarf.Attr = 0x2136
	// oldLinkageName is DW_AT_MIPS_linkage_name.
	oldLinkageName dwarf.Attr = 0x2007
	// dwoName and oldDwoName are DW_AT_dwo_name and DW_AT_GNU_dwo_name, of a unit whose debug
	// information is in another file.
	dwoName, oldDwoName dwarf.Attr = 0x76, 0x2130
	// mostOrigins limits the entries read for one function: each may refer to two others.
	mostOrigins = 16
)

var errParts = errors.New("its debug information has more stretches of code than are read")

// readUnit reads a unit. It keeps the part of a damaged unit before the damage.
func (im *Image) readUnit(e *dwarf.Entry) *unit {
	u := &unit{}
	producer, _ := e.Val(dwarf.AttrProducer).(string)
	u.clang = strings.Contains(producer, "clang")
	for _, read := range []func(*unit, *dwarf.Entry) error{im.readLines, im.readScopes} {
		if err := read(u, e); err != nil && im.Debug == nil {
			im.Debug = err
		}
	}
	u.parts = flat(u.parts)
	u.edges = slices.Clone(u.prologues)
	for _, r := range u.lines {
		u.edges = append(u.edges, r.from, r.to)
	}
	for _, p := range u.parts {
		u.edges = append(u.edges, p.from, p.to)
	}
	slices.Sort(u.edges)
	return u
}

func (im *Image) readLines(u *unit, e *dwarf.Entry) (err error) {
	defer recovered(&err)
	in, err := im.data.LineReader(e)
	if err != nil || in == nil {
		return err
	}
	var last, next dwarf.LineEntry
	for open := false; ; open, last = !next.EndSequence, next {
		if err = in.Next(&next); err != nil {
			break
		}
		if open && next.Address > last.Address && im.isCode(last.Address) && last.File != nil {
			u.lines = append(u.lines, codeLine{last.Address, next.Address, last.File.Name, last.Line, u.disc(int64(last.Discriminator))})
		}
		if next.PrologueEnd {
			u.prologues = append(u.prologues, next.Address)
		}
	}
	u.files = in.Files()
	slices.SortStableFunc(u.lines, func(a, b codeLine) int { return cmp.Compare(a.from, b.from) })
	slices.Sort(u.prologues)
	if err == io.EOF {
		return nil
	}
	return err
}

// disc returns a discriminator as compilers count them. LLVM packs the base discriminator
// into the first 6 or 13 bits, followed by how often code was copied.
func (u *unit) disc(d int64) int32 {
	switch {
	case d < 0 || d > 1<<32-1:
		return 0
	case !u.clang:
		return int32(d)
	case d&1 != 0: // none
		return 0
	}
	d >>= 1
	if d&0x20 == 0 {
		return int32(d & 0x1f)
	}
	return int32(d>>1&0xfe0 | d&0x1f)
}

// readScopes reads the tree of functions and inlined calls.
func (im *Image) readScopes(u *unit, e *dwarf.Entry) (err error) {
	defer recovered(&err)
	in := im.data.Reader()
	in.Seek(e.Offset)
	if e, err = in.Next(); err != nil || e == nil || !e.Children {
		return err
	}
	around := []int32{outermost}
	for len(around) > 0 {
		e, err := in.Next()
		if err != nil || e == nil {
			return err
		}
		within := around[len(around)-1]
		switch e.Tag {
		case 0: // the end of an entry's children
			around = around[:len(around)-1]
			continue
		case dwarf.TagSubprogram:
			within, err = im.addScope(u, e, outermost, 0)
		case dwarf.TagInlinedSubroutine:
			within, err = im.addScope(u, e, within, int32(len(around)))
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, dwarf.TagModule, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
		default:
			in.SkipChildren()
			continue
		}
		if err != nil {
			return err
		}
		if e.Children {
			around = append(around, within)
		}
	}
	return nil
}

// addScope adds the code of a function or inlined call, if it has any.
func (im *Image) addScope(u *unit, e *dwarf.Entry, into, depth int32) (int32, error) {
	ranges, err := im.stretches(e)
	id := int32(len(u.scopes))
	parts := len(u.parts)
	for _, r := range ranges {
		if r[1] > r[0] && im.isCode(r[0]) {
			u.parts = append(u.parts, part{r[0], r[1], id, depth})
		}
	}
	if err != nil || len(u.parts) > mostParts {
		u.parts = u.parts[:parts]
		return 0, cmp.Or(err, errParts)
	}
	if len(u.parts) == parts {
		return into, nil
	}
	left := mostOrigins
	s := scope{origin: im.origin(e, &left), into: into, entry: u.parts[parts].from, end: u.parts[parts].to}
	if n, ok := e.Val(dwarf.AttrCallFile).(int64); ok && n >= 0 && n < int64(len(u.files)) && u.files[n] != nil {
		s.file = u.files[n].Name
	}
	line, _ := e.Val(dwarf.AttrCallLine).(int64)
	disc, _ := e.Val(discriminator).(int64)
	s.line, s.disc = int(line), u.disc(disc)
	u.scopes = append(u.scopes, s)
	return id, nil
}

// origin returns the data about a function in an entry, and in the entries that it refers to.
func (im *Image) origin(e *dwarf.Entry, left *int) (o origin) {
	o.name, _ = e.Val(dwarf.AttrName).(string)
	line, _ := e.Val(dwarf.AttrDeclLine).(int64)
	o.start = int(line)
	for _, a := range []dwarf.Attr{dwarf.AttrLinkageName, oldLinkageName} {
		if name, ok := e.Val(a).(string); ok {
			o.linkage = name
		}
	}
	for _, a := range []dwarf.Attr{dwarf.AttrAbstractOrigin, dwarf.AttrSpecification} {
		at, ok := e.Val(a).(dwarf.Offset)
		if !ok || *left == 0 { // a hostile file has cycles
			continue
		}
		*left--
		in := im.data.Reader()
		in.Seek(at)
		if e, err := in.Next(); err == nil && e != nil {
			p := im.origin(e, left)
			o = origin{cmp.Or(o.linkage, p.linkage), cmp.Or(o.name, p.name), cmp.Or(o.start, p.start)}
		}
	}
	return o
}

// flat cuts nested stretches of code into those of the innermost scopes.
func flat(all []part) (list []part) {
	slices.SortStableFunc(all, func(a, b part) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.depth, b.depth)) })
	var open []part // the enclosing stretches, the innermost last
	at := uint64(0)
	emit := func(to uint64) {
		for len(open) > 0 {
			p := open[len(open)-1]
			if end := min(p.to, to); end > at {
				list = append(list, part{at, end, p.scope, p.depth})
				at = end
			}
			if p.to > to {
				break
			}
			open = open[:len(open)-1]
		}
		at = to
	}
	for _, p := range all {
		emit(p.from)
		open = append(open, p)
	}
	emit(^uint64(0))
	return list
}

// lineAt returns the line of an address.
func (u *unit) lineAt(pc uint64) codeLine {
	i := sort.Search(len(u.lines), func(k int) bool { return u.lines[k].from > pc })
	if i > 0 && pc < u.lines[i-1].to {
		return u.lines[i-1]
	}
	return codeLine{}
}

// scopeAt returns the innermost scope of an address.
func (u *unit) scopeAt(pc uint64) int32 {
	i := sort.Search(len(u.parts), func(k int) bool { return u.parts[k].from > pc })
	if i > 0 && pc < u.parts[i-1].to {
		return u.parts[i-1].scope
	}
	return outermost
}

// prologueEnd returns where the prologue of the function at entry ends, or entry if that is
// unknown. The function ends before to.
func (u *unit) prologueEnd(entry, to uint64) uint64 {
	i, _ := slices.BinarySearch(u.prologues, entry)
	if i == len(u.prologues) || u.prologues[i] >= to {
		return entry
	}
	return u.prologues[i]
}
