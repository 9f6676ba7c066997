package outside

import (
	"debug/elf"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/unwind"
)

// objects assigns addresses of the trace to code, and names it.
//
// One address of a process means different code after an exec, or where one library was mapped
// over another, and in different processes. The trace has one list of addresses: code keeps the
// address of the process that ran it first, and moves if other code has that address already.
type objects struct {
	files      map[identity]*object
	placements []*placement // by from, none overlap
	next       uint64       // the address for the next code that has to move
	fact       func(key, value string)
	write      func(format.Object)
}

// identity identifies the file of code. A path may have had several files.
type identity struct {
	file    string
	inode   uint64
	changed int64 // ns since 1970; for code whose file no longer exists it is 0, and inode is the kernel's
}

// placement is the place in the trace of some of an object's code.
type placement struct {
	from, to uint64
	offset   uint64 // of from, in the file
	*object
}

// moved is the address of the first code that has to move: above the addresses of processes, and
// below the kernel.
const moved = 1 << 56

func newObjects(fact func(key, value string), write func(format.Object)) objects {
	return objects{files: map[identity]*object{}, next: moved, fact: fact, write: write}
}

// open reads the tables of the file of some code. The result has no names if the file can't be
// read, or was written, or got its path, after it was mapped.
func (o *objects) open(c *code) *object {
	id := identity{file: c.file, inode: c.inode}
	var st unix.Stat_t
	if strings.HasPrefix(c.file, "/") && unix.Stat(c.file, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && !changed(&st, c) { // not [vdso], //anon
		id = identity{c.file, st.Ino, st.Ctim.Nano()}
	}
	x := o.files[id]
	if x == nil {
		x = &object{name: c.file}
		if o.files[id] = x; id.changed != 0 {
			x.read()
		}
	}
	return x
}

// changed reports whether a file may have changed since its code was mapped. The inode can't be
// compared: on overlay file systems the kernel maps that of the layer below.
func changed(st *unix.Stat_t, c *code) bool { return st.Ctim.Nano() > c.time }

// place converts an address of a process to one of the trace; 0: no code is known there.
func (o *objects) place(s *space, pc uint64) uint64 {
	if pc == perf.KernelPC || pc == unwind.UnknownCaller || pc == unwind.Truncated {
		return pc
	}
	c := s.find(pc)
	if c == nil {
		return 0
	}
	p := o.placed(c)
	return p.from + (c.offset - p.offset) + (pc - c.from)
}

// placed returns the placement of a process's code in the trace.
func (o *objects) placed(c *code) *placement {
	if c.placement == nil {
		c.placement = o.placementOf(c)
	}
	return c.placement
}

// placementOf returns the placement that has all of the code.
func (o *objects) placementOf(c *code) *placement {
	x, size := o.open(c), c.to-c.from
	anonymous := !strings.HasPrefix(c.file, "/") || strings.HasPrefix(c.file, "//")
	for _, p := range o.placements {
		// Code in no file is identified by its address. It has no names that could be wrong.
		if p.object == x && p.offset <= c.offset && c.offset+size <= p.offset+(p.to-p.from) && (!anonymous || p.from == c.from) {
			return p
		}
	}
	p := &placement{c.from, c.to, c.offset, x}
	i := sort.Search(len(o.placements), func(k int) bool { return o.placements[k].to > p.from })
	if i < len(o.placements) && o.placements[i].from < p.to || p.to > moved {
		const page = 1 << 16 // distance between objects, so that no page has two
		p.from, p.to = o.next, o.next+size
		o.next = (p.to + page) &^ (page - 1)
		i = len(o.placements)
	}
	o.placements = slices.Insert(o.placements, i, p)
	written := format.Object{From: p.from, To: p.to, Path: c.file}
	written.Addr, _ = x.addr(p.offset)
	if x.goBin != nil {
		written.BuildID = x.goBin.BuildID
	}
	o.write(written)
	return p
}

// at returns the object at an address of the trace, and the offset in its file.
func (o *objects) at(pc uint64) (x *object, offset uint64) {
	i := sort.Search(len(o.placements), func(k int) bool { return o.placements[k].to > pc })
	if i == len(o.placements) || pc < o.placements[i].from {
		return nil, 0
	}
	p := o.placements[i]
	return p.object, p.offset + pc - p.from
}

// read reads the tables of the object's file.
func (x *object) read() {
	f, err := elf.Open(x.name)
	if err != nil {
		return
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			x.segs = append(x.segs, p.ProgHeader)
		}
	}
	var goCode symbols.Func // all of it
	if x.goBin, err = symbols.Open(x.name); err == nil && len(x.goBin.Funcs()) > 0 {
		all := x.goBin.Funcs()
		goCode.Entry, goCode.End = all[0].Entry, all[len(all)-1].End
	} else {
		x.goBin = nil
	}
	x.code, _ = symbols.OpenCode(x.name, x.goBin)
	syms, _ := f.Symbols()
	addSourceNames(syms)
	dynamic, _ := f.DynamicSymbols()
	for _, s := range slices.Concat(syms, dynamic) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 && s.Name != "" && (s.Value < goCode.Entry || s.Value >= goCode.End) {
			x.funcs = append(x.funcs, function{addr: s.Value, size: s.Size, name: s.Name})
		}
	}
	x.funcs = unaliased(x.funcs)
}

// addSourceNames appends the source's name to functions that are local to their sources and share their
// name with others: hash (h1.c).
func addSourceNames(syms []elf.Symbol) {
	homes := map[string]map[uint64]bool{}
	function := func(s *elf.Symbol) bool { return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 }
	for i := range syms {
		if s := &syms[i]; function(s) {
			if homes[s.Name] == nil {
				homes[s.Name] = map[uint64]bool{}
			}
			homes[s.Name][s.Value] = true
		}
	}
	source := "" // a source's symbols follow it
	for i := range syms {
		switch s := &syms[i]; {
		case elf.ST_TYPE(s.Info) == elf.STT_FILE:
			source = s.Name
		case function(s) && elf.ST_BIND(s.Info) == elf.STB_LOCAL && source != "" && len(homes[s.Name]) > 1:
			s.Name += " (" + source + ")"
		}
	}
}
