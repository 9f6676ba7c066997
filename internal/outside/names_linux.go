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

// object is a file with code.
type object struct {
	name  string
	segs  []elf.ProgHeader
	goBin *symbols.Binary // nil: it is not a Go program
	code  *symbols.Code   // nil: it can't be read
	funcs []function      // of a symbol table, by address; for a Go program only its C functions
}

type function struct {
	addr, size uint64
	name       string
	aliases    []string // its other names, sorted, until they are recorded
}

// unaliased sorts functions by address, and merges those at the same address. Of several names it
// uses the last in alphabetical order, as Sun's Analyzer does. That is mostly the one without
// leading underscores, by which a program calls it.
func unaliased(list []function) []function {
	slices.SortFunc(list, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), strings.Compare(a.name, b.name))
	})
	var out []function
	for _, f := range list {
		if n := len(out); n > 0 && out[n-1].addr == f.addr {
			last := out[n-1]
			if out = out[:n-1]; last.name != f.name { // the same name may be in both symbol tables
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

// addr converts an offset in the file to an address of its tables.
func (x *object) addr(offset uint64) (uint64, bool) {
	for _, s := range x.segs {
		if offset >= s.Off && offset-s.Off < s.Filesz {
			return offset - s.Off + s.Vaddr, true
		}
	}
	return 0, false
}

// frames returns the functions at an address of the trace, the innermost first. Code of an unknown
// function is <Unknown>, or, in a stripped library, <static>@ and the offset in the file.
func (o *objects) frames(pc uint64) []format.Frame {
	if pc == perf.KernelPC {
		return perf.KernelFrame
	}
	x, offset := o.at(pc)
	if x == nil {
		return []format.Frame{{Function: "<Unknown>"}}
	}
	addr, ok := x.addr(offset)
	if ok && x.goBin != nil {
		var list []format.Frame
		for _, p := range x.goBin.Frames(addr) {
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
			f.aliases = nil // recorded
		}
		return []format.Frame{{Function: cut(f.name), File: cut(x.name)}}
	}
	if !ok || !strings.HasPrefix(x.name, "/") {
		return []format.Frame{{Function: "<Unknown>", File: cut(x.name)}}
	}
	return []format.Frame{{Function: cut("<static>@0x" + strconv.FormatUint(offset&^0xfff, 16) + " (" + filepath.Base(x.name) + ")"), File: cut(x.name)}}
}

// cut shortens a text to the limit for frames.
func cut(s string) string { return s[:min(len(s), format.MaxName)] }
