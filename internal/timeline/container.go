package timeline

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
)

// magic begins a container.
const magic = "SVC1"

// Container holds all that the page receives at once. It omits nil fields.
type Container struct {
	Meta *Meta       `json:"meta,omitempty"`
	Tile *Tile       `json:"tile,omitempty"`
	Open []openScope `json:"-"` // currently open items, replacing the earlier list; only with Live
	Live bool        `json:"-"` // include Open, even if it is empty
	// States are the goroutines' states, and Locks the holders and waiters.
	States *StateTile `json:"states,omitempty"`
	Locks  *lockTile  `json:"locks,omitempty"`
	// Samples are the samples of functions.
	Samples *Samples `json:"samples,omitempty"`
	// Pending means that States are incomplete because they are still being read: request
	// them again.
	Pending bool `json:"pending,omitempty"`
	// Problems are sentences about States.
	Problems []string `json:"problems,omitempty"`
	// Doctor is the doctor's result; see package doctor's Report.
	Doctor any `json:"doctor,omitempty"`
	// Advice is from the raw file beside the trace; see package page's Advice.
	Advice any `json:"advice,omitempty"`
}

// header is the container's JSON.
type header struct {
	*Container
	Open    *openHeader `json:"open,omitempty"`
	Columns [][4]any    `json:"columns"`
}

// openHeader is the list of open scopes: row, depth, name, kind, start, thread, args.
type openHeader struct {
	Rows  [][2]uint64 `json:"rows"`
	Items [][7]any    `json:"items"`
}

// columns returns all columns of the container.
func (c *Container) columns() (all []*column) {
	if c.Tile != nil {
		all = append(all, c.Tile.columns...)
	}
	if c.States != nil {
		all = append(all, c.States.columns...)
	}
	if c.Locks != nil {
		all = append(all, c.Locks.columns...)
	}
	if c.Samples != nil {
		all = append(all, c.Samples.columns...)
	}
	return all
}

// RawSize returns the size of the container without compression, without its header except
// for texts.
func (c *Container) RawSize() (n int64) {
	for _, col := range c.columns() {
		n += int64(len(col.bytes))
	}
	if c.Tile != nil {
		for _, s := range c.Tile.Strings {
			n += int64(len(s)) + 8
		}
	}
	if c.States != nil {
		for _, s := range c.States.Frames {
			n += int64(len(s)) + 8
		}
		for _, s := range c.States.Stacks {
			n += 8 * int64(len(s))
		}
	}
	if c.Samples != nil {
		for _, s := range c.Samples.Funcs {
			n += int64(len(s)) + 8
		}
		for _, x := range c.Samples.Calls {
			n += int64(len(x.From)+len(x.To)+len(x.Text)) + 60
		}
		for _, x := range c.Samples.Sources {
			for _, s := range x.Lines {
				n += int64(len(s)) + 8
			}
		}
	}
	return n
}

// WriteTo writes the container, deflated at a level of compress/flate. It uses another
// implementation than Go's, which takes half the time, as users wait for each tile.
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
	for _, col := range c.columns() {
		parts = append(parts, col.bytes)
	}
	for _, p := range parts {
		if _, err := z.Write(p); err != nil {
			return err
		}
	}
	return z.Close()
}

func (c *Container) header() ([]byte, error) {
	h := header{Container: c, Columns: [][4]any{}}
	for _, col := range c.columns() {
		h.Columns = append(h.Columns, [4]any{col.name, string(col.kind), col.count, len(col.bytes)})
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

func openHeaderOf(list []openScope) *openHeader {
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
