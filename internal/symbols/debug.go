package symbols

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"io"
	"strings"
)

// Stretch is a range of bytes of a file.
type Stretch struct{ Offset, Size int64 }

// DebugInfo returns where the debug information of an executable is. This package does
// not need it for Go code, and it is half of what the linker writes.
func DebugInfo(r io.ReaderAt) (list []Stretch) {
	defer func() {
		if recover() != nil { // in the standard library's parsers, for hostile files
			list = nil
		}
	}()
	add := func(name string, offset, size uint64) {
		for _, p := range []string{".debug_", ".zdebug_", "__debug_", "__zdebug_"} {
			if strings.HasPrefix(name, p) && offset < most && size < most {
				list = append(list, Stretch{int64(offset), int64(size)})
			}
		}
	}
	if x, err := elf.NewFile(r); err == nil {
		for _, s := range x.Sections {
			if s.Type != elf.SHT_NOBITS && s.Flags&elf.SHF_ALLOC == 0 {
				add(s.Name, s.Offset, s.FileSize)
			}
		}
	} else if x, err := macho.NewFile(r); err == nil {
		for _, s := range x.Sections {
			add(s.Name, uint64(s.Offset), s.Size)
		}
	} else if x, err := pe.NewFile(r); err == nil {
		for _, s := range x.Sections {
			add(s.Name, uint64(s.Offset), uint64(s.Size))
		}
	}
	return list
}
