package symbols

import (
	"debug/elf"
	"io"
	"os"
	"strings"
)

// Calls reports whether the call that returns to an address can be one of a function, as
// Places and Entry name it. A direct call of another function's entry can not: what is taken
// for the caller called somebody who called the function, and left no frame. Of indirect
// calls, of stubs that lead to other files, and of processors other than amd64 and arm64 it
// is not known, so it can.
func (im *Image) Calls(ret uint64, function string) bool {
	to, ok := im.target(ret)
	if !ok {
		return true
	}
	name := im.Entry(to)
	return name == "" || name == strings.TrimSuffix(function, ".cold")
}

// target returns what the direct call before an address calls.
func (im *Image) target(ret uint64) (to uint64, ok bool) {
	const opcode, size = 0xe8, 5 // CALL rel32 of amd64
	const link, mask, word = 0x94000000, 0xfc000000, 4
	switch im.machine {
	case elf.EM_X86_64:
		if b := im.code(ret-size, size); len(b) == size && b[0] == opcode {
			return ret + uint64(int64(int32(im.order.Uint32(b[1:])))), true
		}
	case elf.EM_AARCH64:
		if b := im.code(ret-word, word); len(b) == word {
			if i := im.order.Uint32(b); i&mask == link { // BL, whose 26 bits count words
				return ret - word + uint64(int64(int32(i<<6)>>4)), true
			}
		}
	}
	return 0, false
}

// code returns bytes of code; nil where the file has none at that address, or can't be read.
func (im *Image) code(addr uint64, n int) []byte {
	if !im.tried {
		im.tried = true
		im.readCode()
	}
	for i, p := range im.loads {
		if im.text[i] != nil && addr >= p.Vaddr && addr-p.Vaddr+uint64(n) <= uint64(len(im.text[i])) {
			return im.text[i][addr-p.Vaddr:][:n]
		}
	}
	return nil
}

func (im *Image) readCode() {
	im.text = make([][]byte, len(im.loads))
	f, err := os.Open(im.path)
	if err != nil {
		return // what calls can be of is not known then
	}
	defer f.Close()
	var sums Binary
	for i, p := range im.loads {
		if p.Flags&elf.PF_X == 0 {
			continue
		}
		im.text[i], _ = sums.bounded(p.Filesz, func() ([]byte, error) {
			return io.ReadAll(io.NewSectionReader(f, int64(p.Off), int64(p.Filesz)))
		})
	}
}
