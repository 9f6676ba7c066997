package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// nameTable holds the names by id.
type nameTable struct {
	text    []string
	defined []bool
}

func (n *nameTable) has(id uint16) bool { return int(id) < len(n.defined) && n.defined[id] }

// errRenamed means that an id has a second name.
var errRenamed = errors.New("it names an id again; the first name counts")

func (n *nameTable) add(id uint16, name []byte) error {
	if id < format.FirstName {
		return nil // the format reserves it
	}
	if k := int(id) + 1; k > len(n.text) {
		n.text = append(n.text, make([]string, k-len(n.text))...)
		n.defined = append(n.defined, make([]bool, k-len(n.defined))...)
	}
	if n.defined[id] {
		if n.text[id] != string(name) {
			return errRenamed
		}
		return nil
	}
	n.text[id], n.defined[id] = string(name), true
	return nil
}

// Name returns the text of a name id; "(name 17)" for an id that the trace does not define. It is
// raw: it may hold control characters and invalid UTF-8. The name of a place is replaced by its
// object's if CallObjects has one.
func (t *Trace) Name(id uint16) string {
	if text := t.objectNames().textOf(id); text != "" {
		return text
	}
	n := t.names.Load()
	if n.has(id) {
		return n.text[id]
	}
	switch id {
	case format.NameEmpty:
		return ""
	case format.NameOther:
		return format.OtherNames
	}
	if n = t.newerNames(id); n.has(id) {
		return n.text[id]
	}
	return fmt.Sprintf("(name %d)", id)
}

// newerNames reads names written since Open: a record that is read later than the names may have a
// name of its own, which then is in the file already. It tries at most 64 times: a corrupt trace
// may miss all its names.
func (t *Trace) newerNames(id uint16) *nameTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.names.Load()
	if t.state.Closed || n.has(id) || t.asked >= 64 {
		return n
	}
	t.asked++
	m := &nameTable{slices.Clone(n.text), slices.Clone(n.defined)}
	defer t.names.Store(m)
	buf := make([]byte, t.header.ChunkSize)
	for _, b := range t.tails {
		if c := t.chunkOf(b.loc); c != nil {
			t.scanNames(m, buf, c.at, b.at)
		}
	}
	// Chunks are handed out one after another: behind the first that was not, there are at most as
	// many as there are writers.
	for at, none := t.used, 0; none < 16; at += int64(len(buf)) {
		if none++; t.scanNames(m, buf, at, format.ChunkHeaderSize) {
			none = 0
		}
	}
	return m
}

// scanNames adds the names in the chunk at the offset at, from the byte from on, to m. born is
// false if none was handed out there. buf is scratch memory.
func (t *Trace) scanNames(m *nameTable, buf []byte, at int64, from int) (born bool) {
	file := t.places()
	file.Size = math.MaxInt64 // its present length
	c, ok, bad, err := file.ReadChunk(buf, at)
	if err != nil || bad != nil || !ok || c.Kind != format.ChunkBlocks {
		return ok
	}
	for w := c.BlocksFrom(from); w.Next() && w.Err == nil; {
		if w.Type == format.BlockName {
			if id, name, err := format.DecodeName(w.Payload); err == nil {
				_ = m.add(id, name) // Verify reports a second name
			}
		}
	}
	return true
}

// Names returns every name: the index is the id. Ids that are not defined are "".
func (t *Trace) Names() []string {
	n := t.names.Load()
	names := make([]string, max(len(n.text), format.FirstName))
	copy(names, n.text)
	if !n.has(format.NameOther) {
		names[format.NameOther] = format.OtherNames
	}
	if o := t.objectNames(); o != nil {
		for id, text := range o.text {
			if int(id) < len(names) {
				names[id] = text
			}
		}
	}
	return names
}
