package snapshot

import (
	"bytes"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
)

// TestReconcile checks what remains of a second read. A chunk's records are those at bytes 64, 96
// and 128; the second has an extension at 160.
func TestReconcile(t *testing.T) {
	open := format.Record{Start: 1000, Stop: 1000 | -1<<63, Head: format.Head(7, format.KindTask, false, 0), CPU: 0xdead}
	ended := open
	ended.Stop, ended.CPU = 2000, 40
	event := format.Record{Start: 1500, Head: format.Head(7, format.KindEvent, false, 0)}
	args := format.Record{Start: 1700, Head: format.Head(7, format.KindEvent, true, 0)}
	begun := args
	begun.Start = 0
	ext, err := format.AppendExt(nil, []format.Slot{{Type: format.SlotInt, Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	chunk := func(parts ...any) []byte {
		b := make([]byte, format.ChunkHeaderSize, 4096)
		for _, p := range parts {
			switch p := p.(type) {
			case format.Record:
				b = format.AppendRecord(b, &p)
			case []byte:
				b = append(b, p...)
			}
		}
		return b[:4096]
	}
	hole := make([]byte, format.RecordSize)
	torn := ended
	torn.CPU = open.CPU // read before it was stored
	for _, test := range []struct {
		name                string
		first, second, want []byte
		below, end, holes   int
	}{
		{"the same", chunk(ended, event), chunk(ended, event), chunk(ended, event), 4096, 128, 0},
		{"ended between", chunk(open, event), chunk(torn, event), chunk(torn, event), 4096, 128, 0},
		{"begun between", chunk(ended, begun), chunk(ended, event), chunk(ended), 4096, 96, 0},
		{"begun between, with arguments", chunk(ended, event, begun), chunk(ended, event, args, ext), chunk(ended, event), 4096, 128, 0},
		{"begun before a later one", chunk(begun, ext, event), chunk(args, ext, event), chunk(hole, hole, event), 4096, 160, 2},
		{"not begun yet", chunk(begun, ext, event), chunk(begun, ext, event), chunk(hole, hole, event), 4096, 160, 2},
		{"behind the cut", chunk(ended, event, args, ext), chunk(ended, event, args, ext), chunk(ended, event), 97, 128, 0},
		{"nothing", chunk(), chunk(), chunk(), 4096, 64, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &copier{cut: format.MaxTicks, first: test.first, second: test.second}
			end, holes := c.reconcile(format.UsedBytes(c.second, 0), test.below)
			clear(c.second[end:])
			want := bytes.Clone(test.want)
			if test.name == "ended between" { // as in the first read
				copy(want[format.ChunkHeaderSize+8:], test.first[format.ChunkHeaderSize+8:][:8])
			}
			if end != test.end || holes != test.holes || !bytes.Equal(c.second, want) {
				t.Errorf("ends at %d with %d holes, want %d with %d\n got %x\nwant %x", end, holes, test.end, test.holes, c.second[64:192], want[64:192])
			}
		})
	}
}
