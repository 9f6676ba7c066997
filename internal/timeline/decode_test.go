package timeline

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"testing"
)

// decoded is a container as a page decodes it, from its description alone.
type decoded struct {
	Meta *struct {
		Names   []string
		Scopes  int64
		Reduced bool
		Writer  string
		Banner  []Said
		Info    [][2]string
		Summary *Summary
	}
	Tile *struct {
		From, To, Res int64
		Strings       []string
		Rows          [][2]uint64
	}
	Open *struct {
		Rows  [][2]uint64
		Items [][7]any
	}
	States *struct {
		From, To, Res          int64
		Names, Frames, Reasons []string
		Stacks                 [][]int
	}
	Locks *struct {
		Locks []lockRow
		More  int
	}
	Pending  bool
	Problems []string
	Columns  [][4]any
	ints     map[string][]int64
	floats   map[string][]float64
}

func decode(t testing.TB, packed []byte) *decoded {
	t.Helper()
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || string(raw[:4]) != "SVC1" {
		t.Fatalf("no container: %v", err)
	}
	head := raw[8 : 8+binary.LittleEndian.Uint32(raw[4:])]
	d := &decoded{ints: map[string][]int64{}, floats: map[string][]float64{}}
	if err := json.Unmarshal(head, d); err != nil {
		t.Fatal(err)
	}
	raw = raw[8+len(head):]
	for _, c := range d.Columns {
		name, kind, count, size := c[0].(string), c[1].(string), int(c[2].(float64)), int(c[3].(float64))
		b := raw[:size]
		raw = raw[size:]
		last := int64(0)
		for range count {
			switch kind {
			case "b":
				d.ints[name] = append(d.ints[name], int64(b[0]))
				b = b[1:]
			case "f":
				d.floats[name] = append(d.floats[name], math.Float64frombits(binary.LittleEndian.Uint64(b)))
				b = b[8:]
			default:
				v, n := binary.Uvarint(b)
				b = b[n:]
				if kind == "u" {
					d.ints[name] = append(d.ints[name], int64(v))
					break
				}
				last = int64(v>>1) ^ -int64(v&1) + last
				d.ints[name] = append(d.ints[name], last)
				if kind == "z" {
					last = 0
				}
			}
		}
		if len(b) != 0 {
			t.Fatalf("column %s: %d bytes are left", name, len(b))
		}
	}
	if len(raw) != 0 {
		t.Fatalf("%d bytes are left", len(raw))
	}
	return d
}

func pack(t testing.TB, c *Container) *decoded {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	return decode(t, b.Bytes())
}

// drawn is an item of a tile.
type drawn struct {
	goid, track, depth                   int64
	kind, flags, name, start, dur, slack int64
	thread                               int64
	args                                 string
	count, busy                          int64
	endedBy                              int64
}

// items decodes a tile's items.
func (d *decoded) items() (list []drawn) {
	i := 0
	by := map[int]int64{}
	for k, at := range d.ints["endItem"] {
		by[int(at)] = d.ints["endGoid"][k]
	}
	at := func(name string) int64 {
		if c := d.ints[name]; c != nil {
			return c[i]
		}
		return 0
	}
	for l := range d.ints["laneRow"] {
		row := d.Tile.Rows[d.ints["laneRow"][l]]
		for range d.ints["laneCount"][l] {
			list = append(list, drawn{
				int64(row[0]), int64(row[1]), d.ints["laneDepth"][l],
				at("kind"), at("flags"), at("name"), at("start"), at("dur"), at("slack"), at("thread"),
				d.Tile.Strings[at("args")], at("count"), at("busy"), by[i],
			})
			i++
		}
	}
	return list
}
