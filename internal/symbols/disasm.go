package symbols

import (
	"fmt"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Inst is an instruction.
type Inst struct {
	PC   uint64
	Code []byte
	Text string // in Go's syntax; a call's target by its name
	File string
	Line int // 0: unknown
}

// Disasm returns the instructions of a function. Bytes that are not an instruction are shown as
// bytes. The decoder is golang.org/x/arch, which go tool objdump uses too.
func (b *Binary) Disasm(f *Func) ([]Inst, error) {
	code := b.text.from(f.Entry)
	if code.addr != f.Entry || f.End-f.Entry > uint64(len(code.data)) {
		return nil, fmt.Errorf("%s has no code of %s, at %#x", b.path, f.Name, f.Entry)
	}
	decode := map[string]func([]byte, uint64) (int, string){"amd64": b.x86(64), "386": b.x86(32), "arm64": b.arm64}[b.Arch]
	if decode == nil {
		return nil, fmt.Errorf("%s is for %q, whose instructions are not known; amd64, 386 and arm64 are", b.path, b.Arch)
	}
	data := code.data[:f.End-f.Entry]
	var list []Inst
	for at := uint64(0); at < uint64(len(data)); {
		n, text := decode(data[at:], f.Entry+at)
		list = append(list, Inst{PC: f.Entry + at, Code: data[at : at+uint64(n)], Text: text})
		at += uint64(n)
	}
	i := 0
	b.table.lines(f, func(from, to uint64, file string, line int) bool {
		for ; i < len(list) && list[i].PC < to; i++ {
			if list[i].PC >= from {
				list[i].File, list[i].Line = file, line
			}
		}
		return true
	})
	return trimmed(list), nil
}

// trimmed removes the padding before the next function.
func trimmed(list []Inst) []Inst {
	for n := len(list); n > 1 && (list[n-1].Text == "INT $0x3" || list[n-1].Text == "?"); n-- {
		list = list[:n-1]
	}
	return list
}

// symbol returns the name and entry of the function that contains an address.
func (b *Binary) symbol(addr uint64) (string, uint64) {
	if f, _, _ := b.At(addr); f != nil {
		return f.Name, f.Entry
	}
	return "", 0
}

func (b *Binary) x86(mode int) func([]byte, uint64) (int, string) {
	return func(code []byte, pc uint64) (int, string) {
		inst, err := x86asm.Decode(code, mode)
		if err != nil || inst.Len == 0 || inst.Op == 0 {
			return 1, "?"
		}
		return inst.Len, x86asm.GoSyntax(inst, pc, b.symbol)
	}
}

func (b *Binary) arm64(code []byte, pc uint64) (int, string) {
	if len(code) < 4 {
		return len(code), "?"
	}
	inst, err := arm64asm.Decode(code)
	if err != nil || inst.Op == 0 {
		return 4, "?"
	}
	return 4, arm64asm.GoSyntax(inst, pc, b.symbol, nil)
}

// Placeless returns the texts of a function's instructions independent of the addresses of the
// function and of its data: if the texts are equal in two executables, so are the instructions. On
// processors other than amd64 the addresses are left in.
func (b *Binary) Placeless(f *Func, list []Inst) []string {
	const elsewhere = 1 << 48 // assumed address of the function, where no number in an instruction refers to code
	symbol := func(addr uint64) (string, uint64) {
		if in := addr - elsewhere; in < f.End-f.Entry {
			return fmt.Sprintf("%s+%#x", f.Name, in), addr
		}
		name, entry := b.symbol(addr - elsewhere + f.Entry)
		return name, entry - f.Entry + elsewhere
	}
	var texts []string
	for _, in := range list {
		text := in.Text
		if b.Arch == "amd64" {
			if inst, err := x86asm.Decode(in.Code, 64); err == nil && inst.Op != 0 {
				for i, a := range inst.Args {
					m, ok := a.(x86asm.Mem)
					if name, _ := b.symbol(in.PC + uint64(inst.Len) + uint64(m.Disp)); ok && m.Base == x86asm.RIP && name == "" {
						m.Disp = 0
						inst.Args[i] = m
					}
				}
				text = x86asm.GoSyntax(inst, in.PC-f.Entry+elsewhere, symbol)
			}
		}
		texts = append(texts, text)
	}
	return texts
}
