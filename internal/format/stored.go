package format

import (
	"encoding/binary"
	"fmt"
)

// Limits of files that are stored with a trace. Without them a trace of a kilobyte could
// have its reader make a gigabyte of it.
const (
	MaxFile     = 1 << 30 // bytes of a file
	MaxFilePart = 1 << 16 // of a part of one
)

// FileKind is what a file that is stored with a trace is for.
type FileKind uint16

// The kinds.
const (
	FileExecutable FileKind = 0
	FileSource     FileKind = 1
)

// fileKindNames are the kinds by number, as the tools show them.
var fileKindNames = []string{"executable", "source"}

// FilePart is a part of a file that is stored with the trace.
type FilePart struct {
	File   uint32 // its number, from 1 on
	Length uint32 // bytes of the file that the part is of
	Offset int64  // where in the file they are
	Size   int64  // bytes that the file has in all
	Kind   FileKind
	Name   string
	Data   []byte // those bytes, compressed: a DEFLATE stream of its own
}

// FilePartHeadSize is how much of a file block's payload comes before its data, without the
// name.
const FilePartHeadSize = 28

// AppendFilePart appends p's payload.
func AppendFilePart(b []byte, p *FilePart) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, p.File)
	b = le.AppendUint32(b, p.Length)
	b = appendInts(b, p.Offset, p.Size)
	b = le.AppendUint16(b, uint16(p.Kind))
	b = le.AppendUint16(b, uint16(len(p.Name)))
	b = append(b, p.Name...)
	return append(b, p.Data...)
}

// DecodeFilePart reads a file block's payload; Data aliases it.
func DecodeFilePart(b []byte) (p FilePart, err error) {
	v, err := decode(BlockFile, b)
	if err != nil {
		return p, err
	}
	p = FilePart{uint32(v[0].N), uint32(v[1].N), v[2].N, v[3].N, FileKind(v[4].N), string(v[5].B), v[6].B}
	if p.Offset+int64(p.Length) > p.Size || p.Length == 0 && p.Size > 0 {
		err = fmt.Errorf("%w: a part of %d bytes at %d of a file of %d", ErrCorrupt, p.Length, p.Offset, p.Size)
	}
	return p, err
}
