package symbols

import (
	"debug/elf"
	"os"
	"sort"
	"strings"

	"github.com/scopeview/scopeview/internal/unwind"
)

// Code is the code of an ELF file as a walk over stacks needs it (unwind.Text). Addresses are
// the file's.
type Code struct {
	path   string
	file   *os.File // open once bytes of it were asked for
	tried  bool
	arch   string
	loads  []elf.ProgHeader
	goBin  *Binary // nil: it is no Go program
	frames *frames // nil: there are none
	stubs  [][2]uint64
	main   uint64 // C's main; 0: not known
}

// newCode reads the tables of a file. Go's are goBin, nil where it is no Go program.
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
				c.frames = newFrames(x.Machine, x.ByteOrder, s.Addr, b)
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

// OpenCode reads the tables of the file at path, an ELF file; goBin is the same file as Go
// program, nil where it is none.
func OpenCode(path string, goBin *Binary) (c *Code, err error) {
	defer recovered(&err)
	x, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return newCode(x, path, goBin), nil
}

// Arch returns the processor as GOARCH; "" where walks are not possible.
func (c *Code) Arch() string { return c.arch }

// Function returns the bounds of the function that an address is in.
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

// Code returns n bytes of code; nil where the file has none there, or can't be read.
func (c *Code) Code(pc uint64, n int) []byte {
	if !c.tried {
		c.tried = true
		c.file, _ = os.Open(c.path) // closed when nobody has it any more
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

// Stub reports whether code leads to a function of another file.
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

// Rule returns how the caller of the code at an address is found.
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
	case f.info.flag&flagMoves != 0: // once it is set the frame pointer is good nevertheless
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

// function returns the function that an address is in, or nil.
func (b *Binary) function(pc uint64) *Func {
	i := sort.Search(len(b.funcs), func(k int) bool { return b.funcs[k].Entry > pc })
	if i == 0 || pc >= b.funcs[i-1].End {
		return nil
	}
	return &b.funcs[i-1]
}
