package anonymize

import (
	"slices"

	"github.com/scopeview/scopeview/internal/format"
)

// blocks appends the copies of a chunk's blocks. None becomes longer, or they would not fit their
// chunk.
func (a *chunkCopy) blocks(b []byte, w format.BlockWalk) ([]byte, error) {
	for w.Next() {
		kept := []byte(nil)
		if w.Err == nil {
			var err error
			if kept, err = a.block(w.Type, w.Payload); err != nil {
				return b, err
			}
		}
		if kept == nil {
			a.result.Dropped++
		} else if len(kept) > 0 {
			b = format.AppendBlock(b, w.Type, kept)
		}
	}
	return b, nil
}

// block returns a block's payload without its private parts: empty if nothing remains, nil if it
// makes no sense.
func (a *chunkCopy) block(t format.BlockType, p []byte) (kept []byte, err error) {
	s := format.BlockOf(t)
	if s == nil {
		return nil, nil
	}
	// Values that reveal nothing of the program are not decoded: there may be many.
	read := s.ReadFields
	if t == format.BlockBeat || slices.ContainsFunc(s.Each, private) {
		read = s.Read
	}
	vs, bad := read(a.values[:0], p)
	if bad != nil {
		return nil, nil
	}
	a.values = vs
	if special := specials[t]; special != nil {
		return special(a, p, vs)
	}
	for i := range vs {
		switch f := s.Field(i); f.Is {
		case format.Private:
			vs[i].B = []byte(a.hash.text(f.Name, string(vs[i].B)))
		case format.Address:
			vs[i].N = int64(a.hash.address(uint64(vs[i].N)))
		}
	}
	if t == format.BlockName {
		a.result.Names++
	}
	kept = s.Append(nil, vs)
	if s.Each != nil && len(vs) == len(s.Fields) {
		kept = append(kept, p[len(kept):]...)
	}
	return kept, nil
}

// specials copy the blocks of which some private fields are kept, or none. Their arguments are the
// payload and its values.
var specials = map[format.BlockType]func(a *chunkCopy, p []byte, vs []format.Value) ([]byte, error){
	format.BlockBeat: func(_ *chunkCopy, _ []byte, vs []format.Value) ([]byte, error) {
		return format.BlockOf(format.BlockBeat).Append(nil, knownFields(vs)), nil
	},
	format.BlockInfo: func(a *chunkCopy, _ []byte, vs []format.Value) ([]byte, error) {
		value := string(vs[1].B)
		if string(vs[0].B) == "boot" { // so that two copies show that they are of one machine
			value = a.hash.text("boot", value)
		}
		if !keepFact(string(vs[0].B), &value) {
			return []byte{}, nil
		}
		return format.AppendInfo(nil, string(vs[0].B), value), nil
	},
	format.BlockNote: func(a *chunkCopy, _ []byte, vs []format.Value) ([]byte, error) {
		return format.AppendNote(nil, vs[0].N, a.note(string(vs[1].B))), nil
	},
	format.BlockFrame: func(a *chunkCopy, p []byte, _ []format.Value) ([]byte, error) {
		f, _ := format.DecodeFrame(p)
		a.frame(&f, len(p))
		return format.AppendFrame(nil, &f), nil
	},
	format.BlockMember: func(a *chunkCopy, p []byte, _ []format.Value) ([]byte, error) {
		m, err := format.DecodeMember(p)
		if err != nil {
			return nil, nil
		}
		for what, text := range map[string]*string{"program": &m.Program, "host": &m.Host, "boot": &m.Boot} {
			hash := a.hash.text(what, *text)
			*text = hash[:min(len(hash), len(*text))]
		}
		m.PID, m.PPID, m.Path = 0, 0, ""
		return format.AppendMember(nil, &m), nil
	},
	format.BlockCarry:  func(a *chunkCopy, p []byte, _ []format.Value) ([]byte, error) { return a.carry(p) },
	format.BlockCode:   func(*chunkCopy, []byte, []format.Value) ([]byte, error) { return []byte{}, nil },
	format.BlockObject: func(*chunkCopy, []byte, []format.Value) ([]byte, error) { return []byte{}, nil }, // the code block that it belongs to is left out
	format.BlockProgram: func(a *chunkCopy, p []byte, _ []format.Value) ([]byte, error) {
		x, err := format.DecodeProgram(p)
		if err != nil {
			return nil, nil
		}
		hash := a.hash.text("program", x.Path)
		x.PID, x.Path = 0, hash[:min(len(hash), len(x.Path))]
		return format.AppendProgram(nil, &x), nil
	},
	format.BlockFile: func(a *chunkCopy, _ []byte, vs []format.Value) ([]byte, error) {
		a.result.Files += int64(len(vs[6].B))
		return []byte{}, nil
	},
	format.BlockGoroutine: func(*chunkCopy, []byte, []format.Value) ([]byte, error) { return []byte{}, nil }, // likewise
	format.BlockSched:     func(*chunkCopy, []byte, []format.Value) ([]byte, error) { return []byte{}, nil }, // the Go execution trace is left out
	format.BlockGoTrace: func(a *chunkCopy, _ []byte, vs []format.Value) ([]byte, error) {
		a.result.GoTrace += int64(len(vs[2].B))
		return []byte{}, nil
	},
}

func private(f format.BlockField) bool { return f.Is == format.Private || f.Is == format.Address }

// knownFields returns the values of a heartbeat, without the fields of later versions.
func knownFields(vs []format.Value) []format.Value {
	known := vs[:1]
	for each := vs[1:]; len(each) > 0; each = each[2:] {
		if each[0].N > 0 && each[0].N <= int64(len(format.Fields)) {
			known = append(known, each[0], each[1])
		}
	}
	return known
}

// carry returns a carry's payload without arguments; nil if its record has no meaning.
func (a *chunkCopy) carry(p []byte) ([]byte, error) {
	c, err := format.DecodeCarry(p)
	if err != nil {
		return nil, nil
	}
	ext, ok := a.keptSlots(nil, &c.Record, c.Ext)
	if !ok || c.Record.Kind() == format.KindEnd {
		return nil, nil
	}
	if c.Loc, err = a.moved(c.Loc, c.Record.Start); err != nil {
		return nil, err
	}
	rec := appendRecord(nil, &c.Record, ext)
	c.Record, c.Ext = format.DecodeRecord(rec), ext
	if !c.Record.Ext() {
		c.Ext = nil
	}
	return format.AppendCarry(nil, &c), nil
}

// note returns a note without the operator's own text.
func (a *anonymizer) note(text string) string {
	switch text {
	case "switched off from outside", "switched on from outside":
		return text
	}
	return a.hash.text("note", text)
}
