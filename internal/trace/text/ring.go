package text

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// carried parses the words of a carried record. No label may stand for a place in it, since it lies
// outside its own chunk. It takes all remaining words.
func (a *assembler) carried(l *line) ([]byte, error) {
	// The checksum is the block's, and the words behind a | are slots.
	crc, hasCRC := l.value("crc")
	r, ext, err := a.record(l.first(), l, 0)
	if err != nil {
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
	return append(format.AppendRecord(nil, &r), ext...), nil
}

// head parses word 2 of a record as KIND/NAME/GOID[/ext].
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
