package perfetto

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
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
		number, typ, n := protowire.ConsumeTag(b)
		size := protowire.ConsumeFieldValue(number, typ, b[max(n, 0):])
		if n < 0 || size < 0 {
			t.Fatalf("in %q: no field in % x", way, b)
		}
		field, value := strconv.Itoa(int(number)), b[n:n+size]
		b = b[n+size:]
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			out = append(out, field+":"+strconv.FormatInt(int64(v), 10))
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(value)
			out = append(out, fmt.Sprintf("%s:%#x", field, v))
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			if inner := strings.TrimPrefix(way+"."+field, "."); slices.Contains(messages, inner) {
				out = append(out, field+":{"+walk(t, inner, v)+"}")
			} else {
				out = append(out, fmt.Sprintf("%s:%q", field, v))
			}
		default:
			t.Fatalf("in %q: wire type %d", way, typ)
		}
	}
	return strings.Join(out, " ")
}

// packets returns the packets of a file, each as walk formats it.
func packets(t *testing.T, b []byte) (list []string) {
	t.Helper()
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		packet, m := protowire.ConsumeBytes(b[max(n, 0):])
		if n < 0 || m < 0 || number != tracePacket || typ != protowire.BytesType {
			t.Fatalf("no packet in % x", b)
		}
		list = append(list, walk(t, "", packet))
		b = b[n+m:]
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
