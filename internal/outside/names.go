package outside

import (
	"cmp"
	"debug/elf"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/symbols"
)

// objects names the code of files.
type objects struct {
	files map[string]*object
	fact  func(key, value string) // what there is to tell besides
}

// object is a file with code.
type object struct {
	name  string
	segs  []elf.ProgHeader
	goBin *symbols.Binary // nil: it is no Go program
	code  *symbols.Code   // nil: it can't be read
	funcs []function      // of a symbol table, by address; of a Go program those of C in it
}

type function struct {
	addr, size uint64
	name       string
	aliases    []string // its other names, in their order, until they were told
}

// open reads a file's tables. One that can't be read names nothing.
func (o *objects) open(file string) *object {
	if x := o.files[file]; x != nil {
		return x
	}
	x := &object{name: file}
	o.files[file] = x
	if !strings.HasPrefix(file, "/") { // [vdso], [heap], //anon
		return x
	}
	f, err := elf.Open(file)
	if err != nil {
		return x
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			x.segs = append(x.segs, p.ProgHeader)
		}
	}
	var goCode symbols.Func // all of it
	if x.goBin, err = symbols.Open(file); err == nil && len(x.goBin.Funcs()) > 0 {
		all := x.goBin.Funcs()
		goCode.Entry, goCode.End = all[0].Entry, all[len(all)-1].End
	} else {
		x.goBin = nil
	}
	x.code, _ = symbols.OpenCode(file, x.goBin)
	syms, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range slices.Concat(syms, dynamic) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 && s.Name != "" && (s.Value < goCode.Entry || s.Value >= goCode.End) {
			x.funcs = append(x.funcs, function{addr: s.Value, size: s.Size, name: s.Name})
		}
	}
	x.funcs = unaliased(x.funcs)
	return x
}

// unaliased sorts functions by address, and makes one of those at the same: it has the last name by
// the alphabet, as in Sun's Analyzer. That is most often the one without underscores in front,
// which a program calls it by.
func unaliased(list []function) []function {
	slices.SortFunc(list, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), strings.Compare(a.name, b.name))
	})
	var out []function
	for _, f := range list {
		if n := len(out); n > 0 && out[n-1].addr == f.addr {
			last := out[n-1]
			if out = out[:n-1]; last.name != f.name { // which both symbol tables may have
				f.aliases = append(last.aliases, last.name)
			} else {
				f.aliases = last.aliases
			}
			f.size = max(f.size, last.size)
		}
		out = append(out, f)
	}
	return out
}

// addr turns an offset in the file into an address of its tables.
func (x *object) addr(offset uint64) (uint64, bool) {
	for _, s := range x.segs {
		if offset >= s.Off && offset-s.Off < s.Filesz {
			return offset - s.Off + s.Vaddr, true
		}
	}
	return 0, false
}

// frames returns the functions at an address of a process, the innermost first. Code whose
// function nobody knows is <Unknown>, or, where a stripped library has it, <static>@ and the
// offset in the file.
func (o *objects) frames(s *space, pc uint64) []format.Frame {
	if pc == perf.KernelPC {
		return perf.KernelFrame
	}
	file, offset := s.find(pc)
	if file == "" {
		return []format.Frame{{Function: "<Unknown>"}}
	}
	x := o.open(file)
	addr, ok := x.addr(offset)
	if ok && x.goBin != nil {
		var list []format.Frame
		for _, p := range x.goBin.Places(addr) {
			list = append(list, format.Frame{Function: cut(p.Func), File: cut(p.File), Line: uint32(p.Line), Start: uint32(p.Start), Inlined: p.Inlined})
		}
		if list != nil {
			return list
		}
	}
	i := sort.Search(len(x.funcs), func(k int) bool { return x.funcs[k].addr > addr }) - 1
	if ok && i >= 0 && (x.funcs[i].size == 0 || addr-x.funcs[i].addr < x.funcs[i].size) {
		f := &x.funcs[i]
		if len(f.aliases) > 0 {
			o.fact("aliases_"+cut(f.name), cut(strings.Join(f.aliases, " ")))
			f.aliases = nil // told
		}
		return []format.Frame{{Function: cut(f.name), File: cut(file)}}
	}
	if !ok || !strings.HasPrefix(file, "/") {
		return []format.Frame{{Function: "<Unknown>", File: cut(file)}}
	}
	return []format.Frame{{Function: cut("<static>@0x" + strconv.FormatUint(offset&^0xfff, 16) + " (" + filepath.Base(file) + ")"), File: cut(file)}}
}

// cut shortens a text to what a frame may have.
func cut(s string) string { return s[:min(len(s), format.MaxName)] }
