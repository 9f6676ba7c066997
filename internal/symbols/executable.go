package symbols

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// most limits the bytes read of all sections of an executable together, since several
// sections may refer to the same bytes.
const most = 1 << 30

// sections finds the code and the line table.
func (b *Binary) sections(r io.ReaderAt) (pcln []byte, err error) {
	defer func() {
		if v := recover(); v != nil { // in the standard library's parsers, for hostile files
			err = fmt.Errorf("it can't be read: %v", v)
		}
	}()
	x, err := elf.NewFile(r)
	if err == nil {
		return b.elf(x)
	}
	if x, err := macho.NewFile(r); err == nil {
		return b.macho(x)
	}
	if x, err := pe.NewFile(r); err == nil {
		return b.pe(x)
	}
	var format *elf.FormatError
	if !errors.As(err, &format) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, errors.New("it is not an executable of a known format: ELF, Mach-O or PE")
}

func (b *Binary) elf(x *elf.File) ([]byte, error) {
	b.Arch = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_386: "386", elf.EM_ARM: "arm",
		elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64le", elf.EM_S390: "s390x", elf.EM_LOONGARCH: "loong64"}[x.Machine]
	text := x.Section(".text")
	if text == nil {
		return nil, ErrNoTable
	}
	data, err := b.bounded(text.Size, text.Data)
	if err != nil {
		return nil, err
	}
	b.text = section{text.Addr, data}
	if syms, err := x.Symbols(); err == nil { // with cgo, C's code comes first
		if i := slices.IndexFunc(syms, func(s elf.Symbol) bool { return s.Name == "runtime.text" }); i >= 0 {
			b.text = b.text.from(syms[i].Value)
		}
	}
	for name, to := range map[string]*string{".note.go.buildid": &b.BuildID, ".note.gnu.build-id": &b.GNUID} {
		if s := x.Section(name); s != nil && s.Size < 4096 {
			if d, err := s.Data(); err == nil {
				*to = note(d, x.ByteOrder)
			}
		}
	}
	b.GNUID = fmt.Sprintf("%x", b.GNUID)
	for _, s := range x.Sections {
		if s.Name == ".gopclntab" || s.Name == ".data.rel.ro.gopclntab" {
			b.data = b.functionData(x, s.Addr, b.text.addr)
			return b.bounded(s.Size, s.Data)
		}
	}
	var all [][]byte
	for _, s := range x.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_EXECINSTR == 0 && s.Flags&elf.SHF_ALLOC != 0 {
			if d, err := b.bounded(s.Size, s.Data); err == nil {
				all = append(all, d)
			}
		}
	}
	return search(all)
}

// functionData finds the functions' data by the runtime's moduledata (runtime/symtab.go), of
// Go 1.25 and 1.26: its first word is the address of the line table, its 23rd that of the
// code, and its 41st that of the functions' data. In a position-independent executable (PIE)
// these words are not in the file.
func (b *Binary) functionData(x *elf.File, table, text uint64) section {
	const textWord, dataWord, word = 22, 40, 8
	for _, s := range x.Sections {
		if s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_WRITE == 0 {
			continue
		}
		d, err := b.bounded(s.Size, s.Data)
		for at := 0; err == nil && at+(dataWord+1)*word <= len(d); at += word {
			if x.ByteOrder.Uint64(d[at:]) == table && x.ByteOrder.Uint64(d[at+textWord*word:]) == text {
				return b.loaded(x, x.ByteOrder.Uint64(d[at+dataWord*word:]))
			}
		}
	}
	return section{}
}

// loaded returns the data at an address, up to the end of its section.
func (b *Binary) loaded(x *elf.File, addr uint64) section {
	for _, s := range x.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Addr <= addr && addr-s.Addr < s.Size {
			if d, err := b.bounded(s.Size, s.Data); err == nil {
				return section{s.Addr, d}.from(addr)
			}
		}
	}
	return section{}
}

// note returns the contents of an ELF note: they follow the lengths of the name and of the
// contents, the type, and a name of four bytes.
func note(d []byte, order binary.ByteOrder) string {
	if len(d) < 16 || order.Uint32(d[4:]) > uint32(len(d)-16) {
		return ""
	}
	return string(d[16:][:order.Uint32(d[4:])])
}

func (b *Binary) macho(x *macho.File) ([]byte, error) {
	b.Arch = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[x.Cpu]
	var all [][]byte
	for _, s := range x.Sections {
		d, err := b.bounded(s.Size, s.Data)
		if err != nil {
			return nil, err
		}
		if s.Name == "__text" {
			b.text = section{s.Addr, d}
		} else {
			all = append(all, d)
		}
	}
	if x.Symtab != nil {
		for _, s := range x.Symtab.Syms {
			if s.Name == "runtime.text" || s.Name == "_runtime.text" {
				b.text = b.text.from(s.Value)
			}
		}
	}
	b.BuildID = textBuildID(b.text.data)
	return search(all)
}

func (b *Binary) pe(x *pe.File) ([]byte, error) {
	base := uint64(0)
	switch h := x.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		base = h.ImageBase
	case *pe.OptionalHeader32:
		base = uint64(h.ImageBase)
	}
	b.Arch = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64", pe.IMAGE_FILE_MACHINE_I386: "386"}[x.Machine]
	var all [][]byte
	for i, s := range x.Sections {
		d, err := b.bounded(uint64(s.Size), s.Data)
		if err != nil {
			return nil, err
		}
		if s.Name != ".text" {
			all = append(all, d)
			continue
		}
		b.text = section{base + uint64(s.VirtualAddress), d}
		for _, y := range x.Symbols {
			if y.Name == "runtime.text" && int(y.SectionNumber) == i+1 {
				b.text = b.text.from(b.text.addr + uint64(y.Value))
			}
		}
	}
	b.BuildID = textBuildID(b.text.data)
	return search(all)
}

// bounded reads a section, or returns an error if the sections are too large to be real.
func (b *Binary) bounded(size uint64, data func() ([]byte, error)) ([]byte, error) {
	if size > most-b.taken {
		return nil, fmt.Errorf("a section of it has %d bytes, after %d of others: more than %d are not read", size, b.taken, most)
	}
	b.taken += size
	return data()
}

// from returns the part of a section that begins at an address.
func (s section) from(addr uint64) section {
	if addr < s.addr || addr-s.addr > uint64(len(s.data)) {
		return s
	}
	return section{addr, s.data[addr-s.addr:]}
}

// textBuildID finds the build id that the linker writes before the code in formats without
// notes.
func textBuildID(text []byte) string {
	const before, behind = "\xff Go build ID: \"", "\"\n \xff"
	head := string(text[:min(len(text), 1<<16)])
	_, id, ok := strings.Cut(head, before)
	id, _, ok2 := strings.Cut(id, behind)
	if !ok || !ok2 {
		return ""
	}
	return id
}
