package text

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// maxSize bounds what Assemble makes, in bytes: text is for small traces.
const maxSize = 64 << 20

// Assemble converts text to a trace. Errors name the line.
func Assemble(r io.Reader) ([]byte, error) {
	var lines []string
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", len(lines)+1, err)
	}
	a := newAssembler()
	for _, s := range lines {
		a.learn(s)
	}
	for i, s := range lines {
		a.lineNo = i + 1
		if err := a.line(s); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return a.finish()
}

// assembler lays out a trace. Its errors do not name the line.
type assembler struct {
	names  names
	header format.Header
	begun  bool
	base   int64  // offset of out in the file
	out    []byte // whole chunks
	pos    int    // in out: offset of the next element
	// chunkLoc is the offset of the current chunk in labels.
	chunkLoc int64
	lineNo   int

	sealAt   int // in out: offset of the current chunk's sealed word, to be filled in; 0: none
	endAt    int // the same for the state's end
	truncate int64
	labels   map[string]int64
	uses     []use
}

// use is a place that gets a label's offset.
type use struct {
	at    int
	label string
	line  int
}

func newAssembler() *assembler {
	return &assembler{names: names{ids: map[string]uint16{}}, labels: map[string]int64{}, truncate: -1}
}

// learn adds the line's name, if it defines one: names may be used before the block that defines
// them.
func (a *assembler) learn(s string) {
	l, err := split(s)
	if err != nil || l.first() != "name" {
		return
	}
	if _, bad := l.value("crc"); bad {
		return
	}
	id, err := parseInt(l.first())
	name, ok, err2 := l.quoted()
	if err == nil && err2 == nil && ok && id >= 0 && id < format.MaxNames {
		a.names.add(uint16(id), name)
	}
}

func (a *assembler) line(s string) error {
	l, err := split(s)
	if err != nil {
		return err
	}
	word := l.first()
	if word == "" {
		return nil
	}
	if a.truncate >= 0 {
		return errors.New("truncate is the last line")
	}
	if !a.begun && word != "header" {
		return errors.New("the first line is header")
	}
	if read := readers[word]; read != nil {
		err = read(a, l)
	} else if ok, bad := a.block(word, l); ok || bad != nil {
		return bad
	} else {
		err = a.recordLine(word, l)
	}
	if err != nil {
		return err
	}
	return l.rest()
}

// readers parse the rest of a line that is neither a block nor a record, by its first word.
var readers = map[string]func(*assembler, *line) error{
	"header":   (*assembler).headerLine,
	"state":    (*assembler).stateLine,
	"chunk":    (*assembler).chunkLine,
	"unborn":   (*assembler).unborn,
	"bytes":    func(a *assembler, _ *line) error { return a.newChunk() },
	"truncate": (*assembler).truncateLine,
	"raw":      (*assembler).raw,
	"at":       (*assembler).at,
	"hole":     (*assembler).hole,
	"ext":      (*assembler).orphan,
}

func (a *assembler) truncateLine(l *line) (err error) {
	if a.truncate, err = parseInt(l.first()); err == nil && a.truncate < 0 {
		err = errors.New("truncate needs a size")
	}
	return err
}

// put writes b at the current place of the current chunk.
func (a *assembler) put(b []byte) error {
	if a.pos+len(b) > len(a.out) {
		return fmt.Errorf("%d bytes do not fit into the %d that are left of the chunk", len(b), len(a.out)-a.pos)
	}
	a.pos += copy(a.out[a.pos:], b)
	return nil
}

// newChunk begins a chunk of zeros.
func (a *assembler) newChunk() error {
	a.seal()
	if len(a.out)+int(a.header.ChunkSize) > maxSize {
		return fmt.Errorf("the trace is larger than %d bytes", maxSize)
	}
	a.pos = len(a.out)
	a.chunkLoc = a.base + int64(a.pos)
	a.out = append(a.out, make([]byte, a.header.ChunkSize)...)
	return nil
}

// seal fills in the used length of the current chunk.
func (a *assembler) seal() {
	if a.sealAt > 0 {
		used := a.pos - (len(a.out) - int(a.header.ChunkSize))
		binary.LittleEndian.PutUint64(a.out[a.sealAt:], uint64(used))
		a.sealAt = 0
	}
}

func (a *assembler) chunkStart() int { return len(a.out) - int(a.header.ChunkSize) }

func (a *assembler) unborn(l *line) error {
	n := int64(1)
	if w := l.first(); w != "" {
		var err error
		if n, err = parseInt(w); err != nil {
			return err
		}
	}
	for ; n > 0; n-- {
		if err := a.newChunk(); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembler) raw(l *line) error {
	b, err := hex.DecodeString(strings.Join(l.words, ""))
	if err != nil {
		return err
	}
	l.words = nil
	return a.put(b)
}

func (a *assembler) at(l *line) error {
	n, err := parseInt(l.first())
	if err != nil || n < 0 || n > int64(a.header.ChunkSize) {
		return errors.New("at needs a place in the chunk")
	}
	a.pos = a.chunkStart() + int(n)
	return nil
}

func (a *assembler) hole(l *line) error {
	n := int64(1)
	if w := l.first(); w != "" {
		var err error
		if n, err = parseInt(w); err != nil {
			return err
		}
	}
	if n < 0 || n > int64(a.header.ChunkSize/format.RecordSize) {
		return errors.New("hole needs a number of places")
	}
	return a.put(make([]byte, n*format.RecordSize))
}

// finish fills in what depends on the whole trace.
func (a *assembler) finish() ([]byte, error) {
	if !a.begun {
		return a.out, nil
	}
	a.seal()
	for _, u := range a.uses {
		loc, ok := a.labels[u.label]
		if !ok {
			return nil, fmt.Errorf("line %d: no record has the label %s", u.line, u.label)
		}
		binary.LittleEndian.PutUint64(a.out[u.at:], uint64(loc))
	}
	if a.endAt > 0 {
		binary.LittleEndian.PutUint64(a.out[a.endAt:], uint64(len(a.out)))
	}
	if a.truncate >= 0 {
		if a.truncate > int64(len(a.out)) {
			return nil, fmt.Errorf("truncate %d: the trace has only %d bytes", a.truncate, len(a.out))
		}
		a.out = a.out[:a.truncate]
	}
	return a.out, nil
}

// names is the table of names in both directions: a text stands for the lowest id that it names.
type names struct {
	text  map[uint16]string
	ids   map[string]uint16
	words []string // by id: the results of word, computed by settle
}

func (n *names) add(id uint16, text string) {
	if n.text == nil {
		n.text = map[uint16]string{}
	}
	if _, ok := n.text[id]; ok {
		return // the first name counts
	}
	n.text[id] = text
	if old, ok := n.ids[text]; !ok || id < old {
		n.ids[text] = id
	}
}

// id returns the id that a quoted text or #N stands for.
func (n *names) id(word, text string) (uint16, error) {
	if word != "" && word[0] == '#' {
		id, err := parseInt(word[1:])
		if err != nil || id < 0 || id >= format.MaxNames {
			return 0, fmt.Errorf("%s is no name's id", word)
		}
		return uint16(id), nil
	}
	if id, ok := n.ids[text]; ok {
		return id, nil
	}
	switch text {
	case "":
		return format.NameEmpty, nil
	case format.OtherNames:
		return format.NameOther, nil
	}
	return 0, fmt.Errorf("no name line defines %q", text)
}

// settle computes the words of all names, once the table is complete.
func (n *names) settle() {
	last := uint16(format.NameOther)
	for id := range n.text {
		last = max(last, id)
	}
	words := make([]string, int(last)+1)
	for id := range words {
		words[id] = n.word(uint16(id))
	}
	n.words = words
}

// word returns the text form of the id.
func (n *names) word(id uint16) string {
	if int(id) < len(n.words) {
		return n.words[id]
	}
	text, ok := n.text[id]
	if !ok {
		switch id {
		case format.NameEmpty:
			text = ""
		case format.NameOther:
			text = format.OtherNames
		default:
			return "#" + itoa(int64(id))
		}
	}
	if back, err := n.id("", text); err != nil || back != id {
		return "#" + itoa(int64(id))
	}
	return quote(text)
}
