package perfetto

import (
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
)

// annotate adds arguments to the event, as package args writes them in JSON.
func (s *writer) annotate(list []args.Arg) {
	for i := range list {
		a := &list[i]
		s.part = s.appendKey(s.part[:0], a.Key)
		s.part = s.appendValue(s.part, &a.Value)
		s.event = appendBytes(s.event, eventAnnotations, s.part)
	}
}

// maxKeys bounds the interned keys: as many as a trace can have names. Others ("key#2" is no
// name) are written out at each use.
const maxKeys = format.MaxNames

// appendKey appends an argument's key, and interns it if it is new.
func (s *writer) appendKey(b []byte, key string) []byte {
	id, ok := s.keys[key]
	if !ok {
		if len(s.keys) == maxKeys {
			return appendString(b, annotationPlainName, key)
		}
		id = uint64(len(s.keys)) + 1
		s.keys[key] = id
		s.interned = appendInterned(s.interned, internedAnnotations, id, key)
	}
	return appendVarint(b, annotationName, id)
}

func (s *writer) appendValue(b []byte, v *format.Slot) []byte {
	switch v.Type {
	case format.SlotInt, format.SlotDuration:
		return appendInt(b, annotationInt, v.Int())
	case format.SlotFloat:
		return appendDouble(b, annotationDouble, v.Float())
	case format.SlotBool:
		return appendBool(b, annotationBool, v.Value != 0)
	case format.SlotString:
		return appendText(b, v.Str)
	case format.SlotType_:
		s.entry = s.appendKey(s.entry[:0], "type")
		s.entry = appendText(s.entry, v.Str)
		return appendBytes(b, annotationDict, s.entry)
	case format.SlotAddr:
		return appendVarint(b, annotationPointer, v.Value)
	}
	return appendVarint(b, annotationUint, v.Value)
}

// appendText is appendString for text that is mostly valid, which it does not copy.
func appendText(b, s []byte) []byte {
	if utf8.Valid(s) {
		return appendBytes(b, annotationString, s)
	}
	return appendString(b, annotationString, string(s))
}
