package pack

import (
	"encoding/binary"
	"hash/crc32"
)

// Resum corrects the checksums of a packed file, as far as it has the format's structure.
func Resum(b []byte) {
	le := binary.LittleEndian
	if len(b) < headerSize {
		return
	}
	n, packed := int(le.Uint32(b[32:])), int(le.Uint32(b[36:]))
	at := headerSize + n*tableEntry
	if n > len(b)/tableEntry || packed > len(b) || at+packed > len(b) {
		return
	}
	off := at + packed
	for i := range n {
		e := b[headerSize+i*tableEntry:]
		if size := int(le.Uint32(e)); size <= len(b)-off {
			le.PutUint32(e[4:], crc32.Checksum(b[off:off+size], castagnoli))
			off += size
		}
	}
	le.PutUint32(b[44:], crc32.Checksum(b[headerSize:at], castagnoli))
	le.PutUint32(b[48:], crc32.Checksum(b[at:at+packed], castagnoli))
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}
