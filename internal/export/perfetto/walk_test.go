package perfetto

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// messages are the fields that are messages, by their path from the packet.
var messages = []string{
	"6", "6.1", "11", "11.4", "11.4.11", "12", "12.1", "12.2", "12.3", "12.5", "12.6", "12.7", "12.17", "12.18", "12.19", "59", "60", "60.3", "60.8", "66", "126", "126.1",
}

// walk formats a message as its fields' numbers and values. It parses protobuf's wire
// format, and uses the schema only for the list of messages.
func walk(t *testing.T, way string, b []byte) string {
	t.Helper()
	var out []string
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 {
			t.Fatalf("in %q: no tag in % x", way, b)
		}
		b = b[n:]
		field := strconv.FormatUint(tag>>3, 10)
		switch tag & 7 {
		case wireVarint:
			v, n := binary.Uvarint(b)
			if n <= 0 {
				t.Fatalf("in %q: no varint in % x", way, b)
			}
			out = append(out, field+":"+strconv.FormatInt(int64(v), 10))
			b = b[n:]
		case wireFixed64:
			if len(b) < 8 {
				t.Fatalf("in %q: no eight bytes in % x", way, b)
			}
			out = append(out, fmt.Sprintf("%s:%#x", field, binary.LittleEndian.Uint64(b)))
			b = b[8:]
		case wireBytes:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				t.Fatalf("in %q: %d bytes are too many for % x", way, size, b)
			}
			value := b[n : n+int(size)]
			b = b[n+int(size):]
			if inner := strings.TrimPrefix(way+"."+field, "."); slices.Contains(messages, inner) {
				out = append(out, field+":{"+walk(t, inner, value)+"}")
			} else {
				out = append(out, fmt.Sprintf("%s:%q", field, value))
			}
		default:
			t.Fatalf("in %q: wire type %d", way, tag&7)
		}
	}
	return strings.Join(out, " ")
}

// packets returns the packets of a file, each as walk formats it.
func packets(t *testing.T, b []byte) (list []string) {
	t.Helper()
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[max(n, 0):])
		if n <= 0 || m <= 0 || tag != tracePacket<<3|wireBytes || size > uint64(len(b)-n-m) {
			t.Fatalf("no packet in % x", b)
		}
		b = b[n+m:]
		list = append(list, walk(t, "", b[:size]))
		b = b[size:]
	}
	return list
}

func TestWalk(t *testing.T) {
	event := appendDouble(appendVarint(nil, eventType, sliceBegin), eventDoubleCounter, math.Pi)
	p := appendBytes(appendInt(nil, packetTimestamp, -1), packetTrackEvent, event)
	want := "8:-1 11:{9:1 44:0x400921fb54442d18}"
	if got := packets(t, appendBytes(nil, tracePacket, p)); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
