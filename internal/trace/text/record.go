package text

import (
	"errors"
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

var qualities = []string{"unknown", "exact", "likely", "most"}

// recordLine parses a record's line.
func (a *assembler) recordLine(word string, l *line) error {
	if w, ok := l.take(func(w string) bool { return w[0] == '@' }); ok {
		if _, ok := a.labels[w]; ok {
			return fmt.Errorf("a second record has the label %s", w)
		}
		a.labels[w] = a.chunkLoc + int64(a.pos-a.chunkStart())
	}
	r, ext, err := a.record(word, l, a.pos+format.RecordSize)
	if err != nil {
		return err
	}
	return a.put(append(format.AppendRecord(nil, &r), ext...))
}

// record parses a record's words; its extension will be at at.
func (a *assembler) record(word string, l *line, at int) (r format.Record, x []byte, err error) {
	k, err := kindOf(word)
	if err != nil {
		return r, nil, err
	}
	var ext []string
	for i, w := range l.words {
		if w == "|" {
			ext = append([]string{}, l.words[i+1:]...)
			l.words = l.words[:i]
			break
		}
	}
	id := uint16(format.NameEmpty)
	if w, ok := l.take(func(w string) bool { return w[0] == '#' }); ok {
		if id, err = a.names.id(w, ""); err != nil {
			return r, nil, err
		}
	} else if text, ok, err := l.quoted(); err != nil {
		return r, nil, err
	} else if ok {
		if id, err = a.names.id("", text); err != nil {
			return r, nil, err
		}
	}
	goid := int64(0)
	if err := l.numbers([]string{"g", "start"}, &goid, &r.Start); err != nil {
		return r, nil, err
	}
	if uint64(goid) > format.MaxGoid {
		return r, nil, fmt.Errorf("g=%d: too large", goid)
	}
	if err := a.words(k, l, &r); err != nil {
		return r, nil, err
	}
	bit := l.flag("noext") || ext != nil
	r.Head = format.Head(uint64(goid), k, bit, id)
	if ext != nil {
		x, err = a.slots(ext, at)
	}
	return r, x, err
}

func kindOf(word string) (format.Kind, error) {
	for i := range format.Specs {
		if format.Specs[i].Name == word {
			return format.Specs[i].Kind, nil
		}
	}
	if s, ok := strings.CutPrefix(word, "kind-"); ok {
		if n, err := parseInt(s); err == nil && n >= 0 && n < 128 {
			return format.Kind(n), nil
		}
	}
	return 0, fmt.Errorf("%q begins no line", word)
}

// words parses the words of words 1 and 3.
func (a *assembler) words(k format.Kind, l *line, r *format.Record) error {
	spec := k.Spec()
	var w1, w3 int64
	if err := l.numbers([]string{"w1", "w3"}, &w1, &w3); err != nil {
		return err
	}
	r.Stop, r.CPU = w1, uint64(w3)
	if spec == nil {
		return nil
	}
	switch {
	case spec.Scope && l.flag("open"):
		var tid, sched, seq int64
		err := l.numbers([]string{"tid", "sched", "seq"}, &tid, &sched, &seq)
		r.Stop = format.OpenStop(uint32(tid), uint32(sched), uint8(seq)) | apartWord(l)
		return err
	case spec.Scope:
		if v, ok := l.value("open"); ok {
			if v != "go" {
				return fmt.Errorf("open=%s: only go", v)
			}
			r.Stop = int64(uint64(r.Start)|1<<63) | apartWord(l)
			return nil
		}
		return errors.Join(l.numbers([]string{"stop"}, &r.Stop), cpuWord(l, r))
	case k == format.KindCounter:
		return counterWord(l, r)
	case k == format.KindGo:
		creator := int64(r.CPU)
		err := l.numbers([]string{"created", "creator"}, &r.Stop, &creator)
		r.CPU = uint64(creator)
		return err
	case k == format.KindMade:
		return l.numbers([]string{"made"}, &r.Stop)
	case k == format.KindAnchor:
		cpu := int64(r.CPU)
		err := l.numbers([]string{"thread", "cpu"}, &r.Stop, &cpu)
		r.CPU = uint64(cpu)
		return err
	case k == format.KindEnd:
		return errors.Join(l.numbers([]string{"begin"}, &r.Stop), cpuWord(l, r))
	}
	return nil
}

// apartWord returns the bit that apart sets.
func apartWord(l *line) int64 {
	if l.flag("apart") {
		return format.ApartBit
	}
	return 0
}

// cpuWord parses cpu=N/QUALITY.
func cpuWord(l *line, r *format.Record) error {
	v, ok := l.value("cpu")
	if !ok {
		return nil
	}
	ticks, quality, _ := strings.Cut(v, "/")
	n, err := parseInt(ticks)
	if err != nil {
		return fmt.Errorf("cpu=%s: not a number", v)
	}
	for q, name := range qualities {
		if name == quality {
			r.CPU = uint64(n)<<2 | uint64(q)
			return nil
		}
	}
	return fmt.Errorf("cpu=%s: the quality is unknown, exact, likely or most", v)
}

func counterWord(l *line, r *format.Record) error {
	v, ok := l.value("value")
	if !ok {
		return nil
	}
	var none assembler
	s, _, err := none.slot(v)
	if err != nil {
		return fmt.Errorf("value=%s: %w", v, err)
	}
	r.Stop, r.CPU = int64(s.Value), uint64(s.Type)
	return nil
}

// orphan parses an extension without a record.
func (a *assembler) orphan(l *line) error {
	b, err := a.slots(l.words, a.pos)
	if err != nil {
		return err
	}
	l.words = nil
	return a.put(b)
}

// appendRecord appends r's line, without its extension.
func (n *names) appendRecord(b []byte, r *format.Record, path format.Path) []byte {
	k := r.Kind()
	w := words(append(b, k.String()...))
	if id := r.Name(); id != format.NameEmpty {
		w = append(append(w, ' '), n.word(id)...)
	}
	w.word("g", int64(r.Goid()))
	w.word("start", r.Start)
	switch spec := k.Spec(); {
	case spec != nil && spec.Scope:
		w.scope(r, path)
	case k == format.KindCounter && r.CPU >= uint64(format.SlotInt) && r.CPU <= uint64(format.SlotFloat):
		s := format.Slot{Type: format.SlotType(r.CPU), Value: uint64(r.Stop)}
		w = AppendSlot(append(w, " value="...), &s, n.word)
	case k == format.KindGo:
		w.word("created", r.Stop)
		w.word("creator", int64(r.CPU))
	case k == format.KindMade:
		w.word("made", r.Stop)
		w.nonzero("w3", int64(r.CPU))
	case k == format.KindAnchor:
		w.word("thread", r.Stop)
		w.word("cpu", int64(r.CPU))
	case k == format.KindEnd:
		w.word("begin", r.Stop)
		w.cpu(r)
	default:
		w.nonzero("w1", r.Stop)
		w.nonzero("w3", int64(r.CPU))
	}
	return w
}

// scope appends words 1 and 3 of a scope.
func (b *words) scope(r *format.Record, path format.Path) {
	if !r.Open() {
		b.word("stop", r.Stop)
		b.cpu(r)
		return
	}
	if uint64(r.Stop)&^format.ApartBit == uint64(r.Start)|1<<63 && path != format.PathAssembly {
		*b = append(*b, " open=go"...)
	} else {
		*b = append(*b, " open"...)
		b.nonzero("tid", r.Stop>>40&0x3fffff)
		b.nonzero("sched", r.Stop>>8&0xffffffff)
		b.nonzero("seq", r.Stop&0xff)
	}
	if r.Stop&format.ApartBit != 0 {
		*b = append(*b, " apart"...)
	}
	b.nonzero("w3", int64(r.CPU))
}

func (b *words) cpu(r *format.Record) {
	b.word("cpu", r.CPUTicks())
	*b = append(append(*b, '/'), qualities[r.Quality()]...)
}
