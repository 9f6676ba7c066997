// Package symbols reads a program's executable and its sources: functions, the lines that
// have code, instructions, and the compiler's remarks about lines.
//
// # Design
//
//  1. The data for Go code come from the pclntab, the table by which Go's runtime prints
//     stacks. So they are available in stripped executables too, without DWARF. A PC's line
//     there is the innermost one: code that was inlined belongs to the lines that it was
//     written in.
//  2. debug/gosym reads that table, but can't list the lines of a file; see pclntab.go.
//  3. Addresses are those of the file. If a program was loaded elsewhere (PIE), Slide
//     computes the difference.
//  4. An executable is not trusted: every length and offset in it is checked.
package symbols

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Func is a function of an executable.
type Func struct {
	Name       string // the linker's, with its package's path
	File       string // the file where it begins, as passed to the compiler
	Line       int    // its first line; 0: unknown
	Entry, End uint64 // addresses; the code is before End

	info entry
}

// Binary is an executable.
type Binary struct {
	Arch    string // as GOARCH; "": unknown
	BuildID string // Go's; "": unknown
	GNUID   string // of the linker's note, in hexadecimal; "": none

	path  string
	taken uint64 // bytes of its sections read so far
	text  section
	data  section // the functions' data (go:func.*), with the trees of inlined calls; empty: not found
	table *table
	funcs []Func // by Entry
	names map[string][]int
}

// section is a loaded part of an executable.
type section struct {
	addr uint64
	data []byte
}

// ErrNoTable reports that a file has no Go line table.
var ErrNoTable = errors.New("it has no table of Go's functions and lines: it is not a Go program, or was built by Go before 1.20")

// Open reads the tables of the executable at path, which takes some tens of milliseconds for
// a large one. The error wraps ErrNoTable if the file is not a Go program.
func Open(path string) (*Binary, error) {
	// The path may come from a foreign trace, and opening a pipe could block forever.
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the executable %s: it is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the executable %s: %w", path, err)
	}
	defer f.Close()
	return OpenReader(f, path)
}

// OpenReader is like Open for an executable that was at path; it reads all it needs from r
// before it returns.
func OpenReader(r io.ReaderAt, path string) (*Binary, error) {
	b := &Binary{path: path, names: map[string][]int{}}
	pcln, err := b.sections(r)
	if err != nil {
		return nil, fmt.Errorf("reading the executable %s: %w", path, err)
	}
	if b.table, err = newTable(pcln, b.text.addr); err == nil {
		b.funcs, err = b.table.functions()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the executable %s: %w", path, err)
	}
	for i := range b.funcs {
		f := &b.funcs[i]
		b.names[f.Name] = append(b.names[f.Name], i)
		if p := PrintName(f.Name); p != f.Name {
			b.names[p] = append(b.names[p], i)
		}
	}
	return b, nil
}

// PrintName returns a function's name as Go prints it on stacks: without type arguments.
func PrintName(name string) string {
	i, k := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if i < 0 || k < i {
		return name
	}
	return name[:i] + "[...]" + name[k+1:]
}

// Funcs returns all functions, by their addresses.
func (b *Binary) Funcs() []Func { return b.funcs }

// Find returns the functions with a name, as the linker has it or as PrintName prints it; for
// a generic function all instances.
func (b *Binary) Find(name string) (list []*Func) {
	for _, i := range b.names[name] {
		list = append(list, &b.funcs[i])
	}
	return list
}

// At returns the function whose code contains an address, and the position in the source; f
// is nil if there is none.
func (b *Binary) At(pc uint64) (f *Func, file string, line int) {
	if f = b.function(pc); f == nil {
		return nil, "", 0
	}
	b.table.refill()
	b.table.lines(f, func(from, to uint64, at string, n int) bool {
		if pc >= from && pc < to {
			file, line = at, n
		}
		return pc >= to
	})
	return f, file, line
}

// deepestInlining limits the depth of inlined calls, since a hostile tree may have cycles.
const deepestInlining = 100

// Frames returns the functions at an address, the innermost first: the inlined ones, and the
// one whose code it is. If the executable lacks the tree of inlined calls (it is a PIE, or
// not ELF), Frames returns only the latter, with the innermost file and line. It returns nil
// if the address is in no function.
func (b *Binary) Frames(pc uint64) (list []Frame) {
	f, file, line := b.At(pc)
	if f == nil {
		return nil
	}
	for range deepestInlining {
		call, ok := b.inlinedAt(f, pc)
		if !ok {
			break
		}
		list = append(list, Frame{Func: call.name, File: file, Line: line, Start: call.start, Inlined: true})
		pc = call.parent
		_, file, line = b.At(pc)
	}
	return append(list, Frame{Func: f.Name, File: file, Line: line, Start: f.Line})
}

// inlinedCall is one of a function's inlined calls.
type inlinedCall struct {
	name   string
	start  int
	parent uint64 // an address of the function that called it
}

// inlinedAt returns the innermost inlined call that contains an address of f.
func (b *Binary) inlinedAt(f *Func, pc uint64) (c inlinedCall, ok bool) {
	const size = 16 // runtime.inlinedCall: funcID u8, 3 bytes, nameOff, parentPc, startLine i32
	i, ok := b.table.value(f.info.inlined, f, pc)
	at := uint64(f.info.tree) + uint64(i)*size
	if !ok || i < 0 || f.info.tree == none || at+size > uint64(len(b.data.data)) {
		return c, false
	}
	entry, order := b.data.data[at:], b.table.order
	c = inlinedCall{cstring(b.table.names, order.Uint32(entry[4:])), int(int32(order.Uint32(entry[12:]))), f.Entry + uint64(order.Uint32(entry[8:]))}
	return c, c.name != "" && c.parent < f.End
}

// Owners returns which lines of a file have code, and in which functions: those that the
// lines are written in, and those that they were inlined into.
func (b *Binary) Owners(file string) map[int][]string {
	all := map[int][]string{}
	b.table.refill()
	for i := range b.funcs {
		f := &b.funcs[i]
		b.table.lines(f, func(_, _ uint64, at string, n int) bool {
			if at == file {
				if l := all[n]; len(l) == 0 || l[len(l)-1] != f.Name {
					all[n] = append(l, f.Name)
				}
			}
			return true
		})
	}
	for n, l := range all {
		slices.Sort(l)
		all[n] = slices.Compact(l)
	}
	return all
}

// Coded returns, for each of the given source files, the lines that have instructions.
func (b *Binary) Coded(files []string) map[string]map[int]bool {
	all := map[string]map[int]bool{}
	for _, f := range files {
		all[f] = map[int]bool{}
	}
	b.table.refill()
	for i := range b.funcs {
		b.table.lines(&b.funcs[i], func(_, _ uint64, at string, n int) bool {
			if of := all[at]; of != nil {
				of[n] = true
			}
			return true
		})
	}
	return all
}

// Slide returns the difference between a program's addresses and those of its executable,
// computed from the address pc that a function has in the program on a line; ok is false if
// the function has no such address.
func (b *Binary) Slide(name string, line int, pc uint64) (slide uint64, ok bool) {
	const page = 4096 // programs are loaded at whole pages
	for _, f := range b.Find(name) {
		for s := (pc - f.End + page) &^ (page - 1); s+f.Entry <= pc && s <= pc; s += page {
			if g, _, n := b.At(pc - s); g == f && n == line {
				return s, true
			}
			if s > ^uint64(0)-page {
				break
			}
		}
	}
	return 0, false
}
