package timeline

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// magic begins a container.
const magic = "SVC1"

// Container is what the page is given at once. What is nil is not in it.
type Container struct {
	Meta *Meta
	Tile *Tile
	Open []OpenScope // what is open now, in place of the list before; with Live only
	Live bool        // Open is there, be it empty
}

// header is the container's JSON.
type header struct {
	Meta    *Meta       `json:"meta,omitempty"`
	Tile    *tileHeader `json:"tile,omitempty"`
	Open    *openHeader `json:"open,omitempty"`
	Columns [][4]any    `json:"columns"`
}

type tileHeader struct {
	From    int64       `json:"from"`
	To      int64       `json:"to"`
	Res     int64       `json:"res"`
	Strings []string    `json:"strings"`
	Rows    [][2]uint64 `json:"rows"`
}

// openHeader is the list of open scopes: row, depth, name, kind, start, thread, args.
type openHeader struct {
	Rows  [][2]uint64 `json:"rows"`
	Items [][7]any    `json:"items"`
}

// RawSize is how many bytes the container is without compression, less its
// header.
func (t *Tile) RawSize() int64 {
	var n int64
	for _, c := range t.columns {
		n += int64(len(c.bytes))
	}
	for _, s := range t.Strings {
		n += int64(len(s)) + 8
	}
	return n
}

// WriteTo writes the container, deflated at a level of compress/flate.
func (c *Container) WriteTo(w io.Writer, level int) error {
	head, err := c.header()
	if err != nil {
		return fmt.Errorf("packing the timeline: %w", err)
	}
	z, err := flate.NewWriter(w, level)
	if err != nil {
		return fmt.Errorf("packing the timeline: %w", err)
	}
	length := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head)))
	parts := [][]byte{length, head}
	if c.Tile != nil {
		for _, col := range c.Tile.columns {
			parts = append(parts, col.bytes)
		}
	}
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			return err
		}
	}
	return z.Close()
}

func (c *Container) header() ([]byte, error) {
	h := header{Meta: c.Meta, Columns: [][4]any{}}
	if t := c.Tile; t != nil {
		h.Tile = &tileHeader{t.From, t.To, t.Res, t.Strings, t.Rows}
		for _, col := range t.columns {
			h.Columns = append(h.Columns, [4]any{col.name, string(col.kind), col.count, len(col.bytes)})
		}
	}
	if c.Live {
		h.Open = openHeaderOf(c.Open)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(&h)
	return b.Bytes(), err
}

func openHeaderOf(list []OpenScope) *openHeader {
	h := &openHeader{Rows: [][2]uint64{}, Items: [][7]any{}}
	rows := map[uint64]int{}
	for _, o := range list {
		at, ok := rows[o.Goid]
		if !ok {
			at = len(h.Rows)
			rows[o.Goid] = at
			h.Rows = append(h.Rows, [2]uint64{o.Goid, uint64(o.Track)})
		}
		h.Items = append(h.Items, [7]any{at, o.Depth, o.Name, o.Kind, o.Start, o.Thread, o.Args})
	}
	return h
}
