package text

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// carryPayload reads the words of a carry block. Its place is a number: what a
// carry is for is that its record is not there any more.
func (a *assembler) carryPayload(l *line) ([]byte, error) {
	var c format.Carry
	var thread, owner int64
	own, i := line{}, 0
	for i < len(l.words) && strings.Contains(l.words[i], "=") {
		i++
	}
	own.words, l.words = l.words[:i:i], l.words[i:]
	err := own.numbers([]string{"ticks", "loc", "thread", "owner"}, &c.Ticks, &c.Loc, &thread, &owner)
	if err = errors.Join(err, own.rest()); err != nil {
		return nil, err
	}
	c.Thread, c.Owner = uint32(thread), uint32(owner)
	// The checksum is the block's, and what follows a | are slots.
	crc, hasCRC := l.value("crc")
	if c.Record, c.Ext, err = a.record(l.first(), l, 0); err != nil {
		return nil, err
	}
	if hasCRC {
		l.words = append(l.words, "crc="+crc)
	}
	for _, u := range a.uses {
		if u.line == a.lineNo {
			return nil, fmt.Errorf("a carry can't name the label %s", u.label)
		}
	}
	return format.AppendCarry(nil, &c), nil
}

// appendCarry appends a carry's line; ok is false for one that its line would not
// give back.
func (n *names) appendCarry(b, p []byte) (line []byte, ok bool) {
	c, err := format.DecodeCarry(p)
	if err != nil {
		return b, false
	}
	b = fmt.Appendf(b, "carry ticks=%d loc=%d thread=%d owner=%d ", c.Ticks, c.Loc, c.Thread, c.Owner)
	b = n.appendRecord(b, &c.Record, format.PathGo)
	if c.Record.Ext() {
		b = n.appendExt(append(b, " |"...), c.Ext)
	}
	return b, bytes.Equal(format.AppendCarry(nil, &c), p)
}

// head reads word 2 of a record as KIND/NAME/GOID[/ext].
func (n *names) head(v string) (uint64, error) {
	v, ext := strings.CutSuffix(v, "/ext")
	word, v, _ := strings.Cut(v, "/")
	at := strings.LastIndexByte(v, '/')
	if at < 0 {
		return 0, errors.New("a begin is KIND/NAME/GOID")
	}
	kind, err1 := kindOf(word)
	goid, err2 := parseInt(v[at+1:])
	name := v[:at]
	var text string
	var err3 error
	if !strings.HasPrefix(name, "#") {
		text, err3 = strconv.Unquote(name)
	}
	id, err4 := n.id(name, text)
	if uint64(goid) > format.MaxGoid {
		err2 = fmt.Errorf("goroutine %d: too large", goid)
	}
	return format.Head(uint64(goid), kind, ext, id), errors.Join(err1, err2, err3, err4)
}

// appendHead appends word 2 of a record.
func appendHead(b []byte, head uint64, name func(id uint16) string) []byte {
	r := format.Record{Head: head}
	if head == 0 {
		return append(b, '0')
	}
	b = append(append(append(b, r.Kind().String()...), '/'), name(r.Name())...)
	b = append(append(b, '/'), utoa(r.Goid())...)
	if r.Ext() {
		b = append(b, "/ext"...)
	}
	return b
}
