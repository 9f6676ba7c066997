package live

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"testing"

	"github.com/scopeview/scopeview/internal/timeline"
)

// packed is a container as a page reads it.
type packed struct {
	Meta *timeline.Meta
	Tile *struct {
		From, To, Res int64
		Strings       []string
		Rows          [][2]uint64
		Alone         bool
		Left          int64
	}
	Open *struct {
		Rows  [][2]uint64
		Items [][7]any
	}
	States *struct{ Names []string }
	Locks  *struct{ Locks []struct{ Holds, Waits int } }
	// Pending and Problems are about States.
	Pending  bool
	Problems []string
	Columns  [][4]any

	values map[string][]float64
}

// container reads an answer.
func container(t *testing.T, r *http.Response) *packed {
	t.Helper()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", r.Status, body(t, r))
	}
	b, err := io.ReadAll(flate.NewReader(r.Body))
	if err != nil || len(b) < 8 || string(b[:4]) != "SVC1" {
		t.Fatalf("no container: %v, %.100q", err, b)
	}
	n := 8 + int(binary.LittleEndian.Uint32(b[4:]))
	p := &packed{values: map[string][]float64{}}
	if err := json.Unmarshal(b[8:n], p); err != nil {
		t.Fatal(err)
	}
	b = b[n:]
	for _, c := range p.Columns {
		length := int(c[3].(float64))
		p.values[c[0].(string)] = column(c[1].(string), b[:length])
		if got := len(p.values[c[0].(string)]); got != int(c[2].(float64)) {
			t.Errorf("column %v has %d values", c, got)
		}
		b = b[length:]
	}
	if len(b) > 0 {
		t.Errorf("%d bytes are behind the columns", len(b))
	}
	return p
}

func column(kind string, b []byte) (values []float64) {
	r := bytes.NewReader(b)
	for last := int64(0); r.Len() > 0; {
		switch kind {
		case "u":
			v, _ := binary.ReadUvarint(r)
			values = append(values, float64(v))
		case "z", "d":
			v, _ := binary.ReadVarint(r)
			if kind == "d" {
				v += last
				last = v
			}
			values = append(values, float64(v))
		case "b":
			v, _ := r.ReadByte()
			values = append(values, float64(v))
		case "f":
			var v uint64
			binary.Read(r, binary.LittleEndian, &v)
			values = append(values, math.Float64frombits(v))
		}
	}
	return values
}

// args returns the arguments of the tile's ended items with that name.
func (p *packed) args(names []string, name string) (list []string) {
	if p.Tile == nil {
		return nil
	}
	for i, id := range p.values["name"] {
		if int(id) < len(names) && names[int(id)] == name && int(p.values["flags"][i])&4 == 0 {
			list = append(list, p.Tile.Strings[int(p.values["args"][i])])
		}
	}
	return list
}
