package perfetto

import (
	"encoding/binary"
	"math"

	"github.com/scopeview/scopeview/internal/args"
)

// The part of the protobuf encoding that this package needs: functions that append fields
// and messages to messages. A field with its default value is written too: the schema is
// proto2, where it makes a difference.

// Wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
)

func appendTag(b []byte, field, wire uint64) []byte {
	return binary.AppendUvarint(b, field<<3|wire)
}

func appendVarint(b []byte, field, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, field, wireVarint), v)
}

func appendInt(b []byte, field uint64, v int64) []byte { return appendVarint(b, field, uint64(v)) }

func appendBool(b []byte, field uint64, v bool) []byte {
	if v {
		return appendVarint(b, field, 1)
	}
	return appendVarint(b, field, 0)
}

func appendFixed64(b []byte, field, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(appendTag(b, field, wireFixed64), v)
}

func appendDouble(b []byte, field uint64, v float64) []byte {
	return appendFixed64(b, field, math.Float64bits(v))
}

// appendBytes appends a field with the bytes of a message, or of a valid string.
func appendBytes[T string | []byte](b []byte, field uint64, v T) []byte {
	b = binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(v)))
	return append(b, v...)
}

// appendString appends a string of any bytes; broken UTF-8 becomes U+FFFD, as some readers
// of protobuf reject the whole file for it.
func appendString(b []byte, field uint64, s string) []byte {
	return appendBytes(b, field, args.Valid(s))
}
