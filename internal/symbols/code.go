package symbols

import (
	"debug/elf"
	"os"
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// Code is the code of an ELF file for stack walks (unwind.Text). Addresses are the file's.
type Code struct {
	path   string
	file   *os.File // opened by the first call of Code
	tried  bool
	arch   string
	loads  []elf.ProgHeader
	goBin  *Binary // nil: it is not a Go program
	frames *cfi    // nil: none
	stubs  [][2]uint64
	main   uint64 // C's main; 0: unknown
}

// newCode reads the tables of a file. goBin has Go's, and is nil if it is not a Go program.
func newCode(x *elf.File, path string, goBin *Binary) *Code {
	c := &Code{path: path, goBin: goBin, arch: map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[x.Machine]}
	for _, p := range x.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			c.loads = append(c.loads, p.ProgHeader)
		}
	}
	var sums Binary
	for _, s := range x.Sections {
		if s.Name == ".plt" || strings.HasPrefix(s.Name, ".plt.") {
			c.stubs = append(c.stubs, [2]uint64{s.Addr, s.Addr + s.Size})
		}
		if s.Name == ".eh_frame" && s.Type != elf.SHT_NOBITS {
			if b, err := sums.bounded(s.Size, s.Data); err == nil {
				c.frames = newCFI(x.Machine, x.ByteOrder, s.Addr, b)
			}
		}
	}
	all, _ := x.Symbols()
	for _, s := range all {
		if s.Name == "main" && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			c.main = s.Value
		}
	}
	return c
}

// OpenCode reads the tables of the file at path, an ELF file; goBin is the same file as a Go
// program, or nil if it is not one.
func OpenCode(path string, goBin *Binary) (c *Code, err error) {
	defer recovered(&err)
	x, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return newCode(x, path, goBin), nil
}

// Arch returns the processor as GOARCH, or "" if walks are not possible.
func (c *Code) Arch() string { return c.arch }

// Function returns the bounds of the function that contains an address.
func (c *Code) Function(pc uint64) (from, to uint64, ok bool) {
	if c.goBin != nil {
		if f := c.goBin.function(pc); f != nil {
			return f.Entry, f.End, true
		}
	}
	if c.frames != nil {
		if e := c.frames.at(pc); e != nil {
			return e.from, e.to, true
		}
	}
	return 0, 0, false
}

// Code returns n bytes of code, or nil if the file has none there or can't be read.
func (c *Code) Code(pc uint64, n int) []byte {
	if !c.tried {
		c.tried = true
		c.file, _ = os.Open(c.path) // the garbage collector closes it
	}
	for _, p := range c.loads {
		if pc < p.Vaddr || n < 0 || uint64(n) > p.Filesz || pc-p.Vaddr > p.Filesz-uint64(n) || c.file == nil {
			continue
		}
		b := make([]byte, n)
		if _, err := c.file.ReadAt(b, int64(p.Off+pc-p.Vaddr)); err == nil {
			return b
		}
	}
	return nil
}

// Stub reports whether code is a stub for a function of another file.
func (c *Code) Stub(pc uint64) bool {
	for _, s := range c.stubs {
		if pc >= s[0] && pc < s[1] {
			return true
		}
	}
	return false
}

// Begin reports whether an address is in C's main.
func (c *Code) Begin(pc uint64) bool {
	from, _, ok := c.Function(pc)
	return ok && from == c.main
}

// Rule returns how to find the caller of the code at an address.
func (c *Code) Rule(pc uint64) unwind.Rule {
	if c.goBin != nil {
		if f := c.goBin.function(pc); f != nil {
			return c.goRule(f, pc)
		}
	}
	if c.frames != nil {
		if e := c.frames.at(pc); e != nil {
			return c.frames.rule(e, pc)
		}
	}
	return unwind.Rule{}
}

func (c *Code) goRule(f *Func, pc uint64) unwind.Rule {
	switch {
	case f.info.flag&flagTop != 0:
		return unwind.Rule{How: unwind.Outermost}
	case f.info.flag&flagMoves != 0: // once set, the frame pointer is valid nevertheless
		if rule := unwind.OfGo(c, pc, -1); rule.How == unwind.ByPointer {
			return rule
		}
		return unwind.Rule{}
	}
	c.goBin.table.refill()
	depth, ok := c.goBin.table.value(f.info.pcsp, f, pc)
	if !ok || depth < 0 {
		return unwind.Rule{}
	}
	return unwind.OfGo(c, pc, depth)
}

// function returns the function that contains an address, or nil.
func (b *Binary) function(pc uint64) *Func {
	i := sort.Search(len(b.funcs), func(k int) bool { return b.funcs[k].Entry > pc })
	if i == 0 || pc >= b.funcs[i-1].End {
		return nil
	}
	return &b.funcs[i-1]
}
