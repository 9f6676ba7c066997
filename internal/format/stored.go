package format

import (
	"encoding/binary"
	"fmt"
)

// Limits of files stored with a trace. Without them, a reader could expand a trace of a
// kilobyte to a gigabyte.
const (
	MaxFile     = 1 << 30 // bytes of a file
	MaxFilePart = 1 << 16 // of a part of one
)

// FileKind is the purpose of a file stored with a trace.
type FileKind uint16

// Kinds of files.
const (
	FileExecutable FileKind = 0
	FileSource     FileKind = 1
)

// fileKindNames are the names of the kinds by number, as the tools show them.
var fileKindNames = []string{"executable", "source"}

// FilePart is a part of a file stored with the trace.
type FilePart struct {
	File   uint32 // its number, from 1 on
	Length uint32 // bytes of the file in this part
	Offset int64  // their offset in the file
	Size   int64  // size of the file
	Kind   FileKind
	Name   string
	Data   []byte // the bytes, compressed as a separate DEFLATE stream
}

// FilePartHeadSize is the size of a file block's payload before its data, without the name.
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
