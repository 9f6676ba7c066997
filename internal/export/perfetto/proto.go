package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/scopeview/scopeview/internal/args"
)

// The part of the protobuf encoding that this package needs: functions that append fields
// and messages to messages. A field with its default value is written too: the schema is
// proto2, where it makes a difference.

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendInt(b []byte, field protowire.Number, v int64) []byte {
	return appendVarint(b, field, uint64(v))
}

func appendBool(b []byte, field protowire.Number, v bool) []byte {
	return appendVarint(b, field, protowire.EncodeBool(v))
}

func appendFixed64(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	return appendFixed64(b, field, math.Float64bits(v))
}

// appendBytes appends a field whose bytes are a message's, or a valid string's.
func appendBytes[T string | []byte](b []byte, field protowire.Number, v T) []byte {
	b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(len(v)))
	return append(b, v...)
}

// appendString appends a string of any bytes; broken UTF-8 becomes U+FFFD, as
// some readers of protobuf refuse the whole file for it.
func appendString(b []byte, field protowire.Number, s string) []byte {
	return appendBytes(b, field, args.Valid(s))
}
