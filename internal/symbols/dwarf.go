package symbols

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
)

// Image is an ELF file: a program or a shared object, compiled by Go, clang or gcc. The data
// for Go code come from Go's table, those for other code from DWARF, or else from the symbol
// table.
type Image struct {
	GNUID string // of the linker's note, in hexadecimal; "": none
	// Go is the file as a Go program, or nil if it is not one.
	Go *Binary
	// Debug is the reason why there is no debug information, or nil if there is.
	Debug error
	// Guessed counts functions whose first line is taken from their first instruction, since
	// DWARF has none (clang -gline-tables-only).
	Guessed int

	code    *Code
	order   binary.ByteOrder
	loads   []elf.ProgHeader
	data    *dwarf.Data
	ranges  []unitRange // by from
	units   map[dwarf.Offset]*unit
	guesses map[uint64]int
	symbols []symbol // functions, by addr
	edges   []uint64 // begins and ends of symbols and ranges, sorted
	budget  int      // remaining number of stretches of code to read
}

// symbol is a function of the symbol table.
type symbol struct {
	name     string
	addr, to uint64
	rank     int // of several symbols at one address the lowest rank names it
	unsized  bool
}

// unitRange is a range of code of a compilation unit.
type unitRange struct {
	from, to uint64
	entry    *dwarf.Entry
}

// ErrNoDebug reports that a file has no debug information.
var ErrNoDebug = errors.New("it has no debug information (DWARF)")

var (
	errSplit  = errors.New("its debug information is in separate files (-gsplit-dwarf), which are not read")
	errNoCode = errors.New("it has debug information and no code: give the file that ran")
)

// OpenImage reads an ELF file.
func OpenImage(path string) (*Image, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() { // see Open
		return nil, fmt.Errorf("reading the executable %s: it is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the executable %s: %w", path, err)
	}
	defer f.Close()
	im, err := newImage(f, path)
	if err != nil {
		return nil, fmt.Errorf("reading the executable %s: %w", path, err)
	}
	return im, nil
}

func newImage(r io.ReaderAt, path string) (im *Image, err error) {
	defer recovered(&err)
	x, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	im = &Image{order: x.ByteOrder, units: map[dwarf.Offset]*unit{}, guesses: map[uint64]int{}}
	for _, p := range x.Progs {
		if p.Type == elf.PT_LOAD {
			if p.Flags&elf.PF_X != 0 && p.Filesz == 0 && p.Memsz > 0 {
				return nil, errNoCode
			}
			im.loads = append(im.loads, p.ProgHeader)
		}
	}
	if s := x.Section(".note.gnu.build-id"); s != nil && s.Size < 4096 {
		if d, err := s.Data(); err == nil {
			im.GNUID = fmt.Sprintf("%x", note(d, x.ByteOrder))
		}
	}
	im.functions(x)
	im.Debug = im.debug(x)
	for _, s := range im.symbols {
		im.edges = append(im.edges, s.addr, s.to)
	}
	for _, r := range im.ranges {
		im.edges = append(im.edges, r.from, r.to)
	}
	slices.Sort(im.edges)
	if b, err := OpenReader(r, path); err == nil {
		im.Go = b
	}
	im.code = newCode(x, path, im.Go)
	return im, nil
}

// recovered turns a panic of the standard library's parsers into an error.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("it can't be read: %v", v)
	}
}

// functions reads the symbol table; of a stripped file it reads the dynamic symbols.
func (im *Image) functions(x *elf.File) {
	all, err := x.Symbols()
	if err != nil {
		all, _ = x.DynamicSymbols()
	}
	behind := func(s elf.Symbol) uint64 { // the end of its section
		if int(s.Section) < len(x.Sections) {
			return x.Sections[s.Section].Addr + x.Sections[s.Section].Size
		}
		return s.Value
	}
	rank := map[elf.SymBind]int{elf.STB_GLOBAL: 0, elf.STB_WEAK: 1}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Section == elf.SHN_UNDEF {
			continue
		}
		n, ok := rank[elf.ST_BIND(s.Info)]
		if !ok {
			n = 2
		}
		f := symbol{name: s.Name, addr: s.Value, to: s.Value + s.Size, rank: n}
		if f.unsized = s.Size == 0; f.unsized { // assembly
			f.to = behind(s)
		}
		im.symbols = append(im.symbols, f)
	}
	slices.SortStableFunc(im.symbols, func(a, b symbol) int { return cmp.Or(cmp.Compare(a.addr, b.addr), a.rank-b.rank) })
	im.symbols = slices.CompactFunc(im.symbols, func(a, b symbol) bool { return a.addr == b.addr })
	for i := range im.symbols[:max(len(im.symbols)-1, 0)] {
		if s := &im.symbols[i]; s.unsized {
			s.to = min(s.to, im.symbols[i+1].addr)
		}
	}
}

// debug reads the DWARF sections, and the code ranges of the units.
func (im *Image) debug(x *elf.File) (err error) {
	defer recovered(&err)
	var (
		sums  Binary
		split error
	)
	parts := map[string][]byte{}
	for _, s := range x.Sections {
		if name, ok := strings.CutPrefix(s.Name, ".debug_"); ok && s.Type != elf.SHT_NOBITS {
			if parts[name], err = sums.bounded(s.Size, s.Data); err != nil {
				return fmt.Errorf("its debug information can't be read: %w", err)
			}
		}
	}
	if len(parts["info"]) == 0 {
		return ErrNoDebug
	}
	data, err := dwarf.New(parts["abbrev"], nil, nil, parts["info"], parts["line"], nil, parts["ranges"], parts["str"])
	if err != nil {
		return fmt.Errorf("its debug information can't be read: %w", err)
	}
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err := data.AddSection(".debug_"+name, parts[name]); err != nil {
			return fmt.Errorf("its debug information can't be read: %w", err)
		}
	}
	im.data = data
	// Each list of ranges belongs to one function, but a hostile file has many functions
	// refer to the same list.
	im.budget = len(parts["info"]) + 2*(len(parts["ranges"])+len(parts["rnglists"]))
	in := data.Reader()
	for _, at := range unitEntries(parts["info"], im.order) {
		in.Seek(at)
		e, err := in.Next()
		if err != nil || e == nil {
			continue
		}
		if e.Val(dwoName) != nil || e.Val(oldDwoName) != nil {
			split = errSplit
			continue
		}
		list, err := im.stretches(e)
		if errors.Is(err, errParts) {
			return err
		}
		for _, r := range list {
			if im.isCode(r[0]) && r[1] > r[0] {
				im.ranges = append(im.ranges, unitRange{r[0], r[1], e})
			}
		}
	}
	slices.SortStableFunc(im.ranges, func(a, b unitRange) int { return cmp.Compare(a.from, b.from) })
	return split
}

// stretches returns the code ranges of an entry.
func (im *Image) stretches(e *dwarf.Entry) ([][2]uint64, error) {
	if im.budget <= 0 {
		return nil, errParts
	}
	list, err := im.data.Ranges(e)
	im.budget -= len(list)
	return list, err
}

// unitEntries returns the offsets of the first entries of the compilation units. Package
// debug/dwarf can find them too, but reads everything in between.
func unitEntries(info []byte, order binary.ByteOrder) (list []dwarf.Offset) {
	const long, longest = 0xffffffff, 40 // a length that announces one of 64 bits; bytes of a header
	for at := uint64(0); at+longest <= uint64(len(info)); {
		size, head, word := uint64(order.Uint32(info[at:])), at+4, uint64(4)
		if size == long {
			size, head, word = order.Uint64(info[at+4:]), at+12, 8
		}
		entry := head + 2 + word + 1 // after the version, the offset of abbreviations, and the size of addresses
		if order.Uint16(info[head:]) >= 5 {
			entry++
			if kind := info[head+2]; kind == 4 || kind == 5 { // DW_UT_skeleton, DW_UT_split_compile: an id
				entry += 8
			}
		}
		if size == 0 || size > uint64(len(info))-head {
			break
		}
		list = append(list, dwarf.Offset(entry))
		at = head + size
	}
	return list
}

// isCode reports whether an address is in an executable segment: linkers place discarded code
// at 0 or at the highest address.
func (im *Image) isCode(addr uint64) bool {
	return slices.ContainsFunc(im.loads, func(p elf.ProgHeader) bool {
		return p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz
	})
}

// Address returns where a byte of the file is loaded, as one of the file's own addresses.
func (im *Image) Address(offset uint64) (addr uint64, ok bool) {
	for _, p := range im.loads {
		if p.Flags&elf.PF_X != 0 && offset >= p.Off && offset-p.Off < p.Filesz {
			return p.Vaddr + (offset - p.Off), true
		}
	}
	return 0, false
}

// symbolAt returns the function of the symbol table that contains an address, or nil.
func (im *Image) symbolAt(pc uint64) *symbol {
	i := sort.Search(len(im.symbols), func(k int) bool { return im.symbols[k].addr > pc })
	if i == 0 || pc >= im.symbols[i-1].to {
		return nil
	}
	return &im.symbols[i-1]
}

// unitAt returns the compilation unit that contains an address, or nil.
func (im *Image) unitAt(pc uint64) *unit {
	i := sort.Search(len(im.ranges), func(k int) bool { return im.ranges[k].from > pc })
	if i == 0 || pc >= im.ranges[i-1].to {
		return nil
	}
	e := im.ranges[i-1].entry
	u, ok := im.units[e.Offset]
	if !ok {
		u = im.readUnit(e)
		im.units[e.Offset] = u
	}
	return u
}
