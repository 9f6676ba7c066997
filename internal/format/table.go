package format

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// BlockSpec is a row of the table of block types: a payload's fields. All code that handles
// blocks without regard to their meaning uses it: reading them, checking their form, the
// text form, cutting a snapshot by time, and removing private values.
type BlockSpec struct {
	Type   BlockType
	Name   string
	Fields []BlockField
	Each   []BlockField // fields that follow, repeated up to the payload's end

	// Line is the order of the words in a line of the text form: a field's value or, if the
	// word ends in =, its name and its value. The values of Each follow.
	Line string

	Most   int  // maximum repetitions of Each; 0: any number
	Longer bool // data without meaning may follow the fields
}

// BlockField is a field of a payload.
type BlockField struct {
	Name     string // empty: reserved, and zero
	Form     form
	Is       meaning
	Min, Max int64    // limits of a number, or of a text's length; both 0: none
	Else     int64    // the number if a line of text does not give it
	Words    []string // of the numbers, from 0 on; of Flags by bit
}

// form is the encoding of a field. Numbers are little-endian.
type form uint8

// Text, bytes and records extend to the payload's end.
const (
	i64 form = iota
	u64
	u32
	u16
	u48
	Text
	Text16 // u16 length, followed by that many bytes
	Bytes
	OneRecord // a record, with its extension if any, as bytes
	delta     // uvarint: ns since the previous one, or since the field base, × 4 + a word; since has the sum
	since
	uvarint // an unsigned varint
	diff    // signed varint: difference from the previous one, initially 0
)

// meaning is the meaning of a field's value, beyond a number or a text.
type meaning uint8

const (
	plain        meaning = iota
	tickTime             // a time, in ticks of the trace's clock
	Flags                // bits
	NameID               // of a name block
	BeatKey              // a Field
	recordPlace          // position of a record: a multiple of RecordSize
	Address              // in the program's memory, which is private
	MemberNumber         // of a process of a merged trace; 0, omitted in the text form: none
	Private              // text or bytes that reveal something about the program
)

// Value is the value of a field.
type Value struct {
	N int64
	B []byte // of texts, bytes and records
}

// Blocks is the table, by type.
var Blocks = []BlockSpec{
	BlockName: {BlockName, "name", []BlockField{
		{Name: "id", Form: u32, Max: MaxNames - 1}, {Form: u32}, {Name: "name", Form: Text, Is: Private, Max: MaxName}},
		nil, "id name", 0, false},
	BlockCalib: {BlockCalib, "calib", []BlockField{
		{Name: "ticks", Is: tickTime}, {Name: "mono"}, {Name: "wall"}, {Name: "bracket"}},
		nil, "ticks= mono= wall= bracket=", 0, true},
	BlockBeat: {BlockBeat, "beat", []BlockField{{Name: "ticks", Is: tickTime}},
		[]BlockField{{Name: "field", Form: u64, Is: BeatKey}, {Name: "value"}}, "ticks=", 0, false},
	BlockThread: {BlockThread, "thread", []BlockField{{Name: "ticks", Is: tickTime}},
		[]BlockField{{Name: "id"}, {Name: "cpu"}, {Name: "wait"}}, "ticks=", 0, false},
	BlockInfo: {BlockInfo, "info", []BlockField{
		{Name: "key", Form: Text16, Max: MaxTicks}, {Name: "value", Form: Text, Is: Private}},
		nil, "key value", 0, false},
	BlockGap: {BlockGap, "gap", []BlockField{
		{Name: "from", Is: tickTime}, {Name: "to", Is: tickTime}, {Name: "count"}, {Name: "reason", Words: lossNames}},
		nil, "from= to= count= reason=", 0, true},
	BlockStop: {BlockStop, "stop", []BlockField{{Name: "ticks", Is: tickTime}}, nil, "ticks=", 0, true},
	BlockBreak: {BlockBreak, "break", []BlockField{{Name: "before", Is: tickTime}, {Name: "after", Is: tickTime}},
		nil, "before= after=", 0, true},
	BlockNote: {BlockNote, "note", []BlockField{{Name: "ticks", Is: tickTime}, {Name: "text", Form: Text, Is: Private}},
		nil, "ticks= text", 0, false},
	BlockFrame: {BlockFrame, "frame", []BlockField{
		{Name: "id", Form: u32, Max: FrameIDs - 1}, {Name: "line", Form: u32}, {Name: "start", Form: u32},
		{Name: "flags", Form: u16, Is: Flags, Words: []string{"inlined"}},
		{Name: "function", Form: Text16, Is: Private, Max: MaxName}, {Name: "file", Form: Text, Is: Private, Max: MaxName}},
		nil, "id function file line= start= flags", 0, false},
	BlockStack: {BlockStack, "stack", []BlockField{
		{Name: "id", Form: u32, Min: 1, Max: StackIDs - 1}, {Name: "flags", Form: u32, Is: Flags, Words: []string{"cut"}}},
		[]BlockField{{Name: "frame", Form: u32}}, "id flags", MaxStackFrames, false},
	BlockCount: {BlockCount, "count", []BlockField{{Name: "ticks", Is: tickTime}},
		[]BlockField{{Name: "name", Form: u32, Is: NameID, Max: MaxNames - 1}, {Name: "stack", Form: u32, Max: MaxStacks - 1},
			{Name: "calls", Max: 1<<63 - 1}, {Name: "weight"}}, "ticks=", 0, false},
	BlockCarry: {BlockCarry, "carry", []BlockField{
		{Name: "ticks", Is: tickTime}, {Name: "loc", Is: recordPlace, Min: 1, Max: 1<<63 - 1}, {Name: "thread", Form: u32}, {Name: "owner", Form: u32},
		{Name: "record", Form: OneRecord, Is: Private}}, nil, "ticks= loc= thread= owner= record", 0, false},
	BlockGoTrace: {BlockGoTrace, "gotrace", []BlockField{
		{Name: "stream", Form: u32, Min: 1, Max: 1<<32 - 1, Else: 1}, {Name: "part", Form: u32}, {Name: "data", Form: Bytes, Is: Private}},
		nil, "stream= part= data", 0, false},
	BlockSwitch: {BlockSwitch, "switch", []BlockField{
		{Name: "thread", Form: u32}, {Name: "flags", Form: u16, Is: Flags, Words: []string{"first", "lost", "on"}}, {Name: "process", Form: u16, Is: MemberNumber},
		{Name: "base", Max: MaxTicks - 1}, {Name: "until", Max: MaxTicks - 1}},
		[]BlockField{{Name: "how", Form: delta, Max: 3, Words: []string{"in", "out", "preempt", "page"}}, {Name: "time", Form: since}},
		"thread= process= base= until= flags", maxSwitches, false},
	BlockLock: {BlockLock, "lock", []BlockField{
		{Name: "ticks", Is: tickTime}, {Name: "addr", Form: u64, Is: Address}, {Name: "name", Form: u16, Is: NameID},
		{Name: "kind", Form: u48, Max: int64(len(LockKindNames)) - 1, Words: LockKindNames},
		{Name: "acquired", Min: -1, Max: 1<<63 - 1, Else: -1}, {Name: "contended", Max: 1<<63 - 1},
		{Name: "short", Max: 1<<63 - 1}, {Name: "short_ns", Max: 1<<63 - 1}},
		nil, "kind name ticks= addr= acquired= contended= short= short_ns=", 0, false},
	BlockSamples: {BlockSamples, "samples", []BlockField{
		{Name: "thread", Form: u32}, {Form: u32}, {Name: "base", Max: MaxTicks - 1}, {Name: "until", Max: MaxTicks - 1},
		{Name: "lost", Max: 1<<63 - 1}, {Name: "counter", Form: Text16, Min: 1, Max: maxCounterText}, {Name: "unit", Form: Text16, Max: maxCounterText}},
		[]BlockField{{Name: "mode", Form: delta, Max: 1, Words: []string{"user", "kernel"}}, {Name: "time", Form: since},
			{Name: "cpu", Form: uvarint, Max: 1<<31 - 1}, {Name: "weight", Form: uvarint, Max: 1<<63 - 1}, {Name: "stack", Form: uvarint, Max: StackIDs - 1}},
		"counter unit thread= base= until= lost=", MaxSamples, false},
	BlockCode: {BlockCode, "code", []BlockField{{Name: "id", Form: u32, Min: CodeStacks, Max: StackIDs - 1}, {Form: u32}},
		[]BlockField{{Name: "pc", Form: diff, Is: Address}}, "id", MaxStackFrames, false},
	BlockFile: {BlockFile, "file", []BlockField{
		{Name: "file", Form: u32, Min: 1, Max: 1<<32 - 1, Else: 1}, {Name: "length", Form: u32, Max: MaxFilePart},
		{Name: "offset", Max: MaxFile}, {Name: "size", Max: MaxFile}, {Name: "kind", Form: u16, Words: fileKindNames},
		{Name: "name", Form: Text16, Is: Private, Min: 1, Max: MaxName}, {Name: "data", Form: Bytes, Is: Private}},
		nil, "kind name file= size= offset= length= data", 0, false},
	BlockCalls: {BlockCalls, "calls", []BlockField{{Name: "ticks", Is: tickTime}},
		[]BlockField{{Name: "name", Form: u64, Is: NameID, Max: MaxNames - 1}, {Name: "calls", Max: 1<<63 - 1},
			{Name: "recorded", Max: 1<<63 - 1}, {Name: "off", Min: -1, Max: MaxTicks - 1, Else: -1}}, "ticks=", MaxCalls, false},
	BlockUnseen: {BlockUnseen, "unseen", []BlockField{{Name: "ticks", Is: tickTime}},
		[]BlockField{{Name: "name", Form: u64, Is: NameID, Max: MaxNames - 1}, {Name: "calls", Max: 1<<63 - 1}}, "ticks=", MaxCalls, false},
	BlockMember: {BlockMember, "member", []BlockField{
		{Name: "from", Is: tickTime}, {Name: "to", Is: tickTime},
		{Name: "offset"}, {Name: "drift"}, {Name: "error", Min: -1, Max: 1<<63 - 1, Else: -1},
		{Name: "lost", Max: 1<<63 - 1}, {Name: "overwritten", Max: 1<<63 - 1}, {Name: "breaks", Max: 1<<63 - 1},
		{Name: "number", Form: u32, Min: 1, Max: MaxMembers}, {Name: "parent", Form: u32, Max: MaxMembers},
		{Name: "shift", Form: u32, Min: 1, Max: 39}, {Name: "pid", Form: u32}, {Name: "ppid", Form: u32},
		{Name: "flags", Form: u32, Is: Flags, Words: []string{"violated", "uncounted", "apart"}},
		{Name: "program", Form: Text16, Is: Private, Max: MaxMemberText}, {Name: "host", Form: Text16, Is: Private, Max: MaxMemberText},
		{Name: "boot", Form: Text16, Is: Private, Max: MaxMemberText}, {Name: "path", Form: Text16, Is: Private, Max: MaxMemberText},
		{Name: "lacks", Form: Text, Max: MaxMemberText}},
		nil, "number program host boot path lacks parent= shift= pid= ppid= from= to= offset= drift= error= lost= overwritten= breaks= flags", 0, false},
	BlockObject: {BlockObject, "object", []BlockField{
		{Name: "from", Form: u64, Is: Address}, {Name: "to", Form: u64, Is: Address}, {Name: "addr", Form: u64, Is: Address},
		{Name: "build_id", Form: Text16, Is: Private, Max: MaxName}, {Name: "path", Form: Text, Is: Private, Max: MaxName}},
		nil, "path build_id from= to= addr=", 0, false},
	BlockProgram: {BlockProgram, "program", []BlockField{
		{Name: "thread", Form: u32}, {Name: "process", Form: u32}, {Name: "base", Max: MaxTicks - 1}, {Name: "path", Form: Text, Is: Private, Max: MaxName}},
		nil, "path thread= process= base=", 0, false},
	BlockSched: {BlockSched, "sched", []BlockField{
		{Name: "number", Form: u32, Min: 1, Max: MaxMembers}, {Name: "flags", Form: u32, Is: Flags, Words: []string{"same", "made"}},
		{Name: "first", Form: u32, Min: 1, Max: 1<<32 - 1, Else: 1}, {Name: "streams", Form: u32},
		{Name: "mono"}, {Name: "end", Max: MaxTicks - 1}, {Name: "why", Form: Text, Max: MaxMemberText}},
		nil, "number why first= streams= mono= end= flags", 0, false},
	BlockGoroutine: {BlockGoroutine, "goroutine", []BlockField{
		{Name: "id", Form: u64, Min: 1, Max: 1<<63 - 1}, {Name: "creator", Form: u64, Max: 1<<63 - 1},
		{Name: "created", Min: -1, Max: MaxTicks - 1, Else: -1}, {Name: "since", Max: MaxTicks - 1},
		{Name: "thread", Form: u32}, {Name: "proc", Form: u32, Max: 1 << 31},
		{Name: "site", Form: u32, Max: StackIDs - 1}, {Name: "start", Form: u32, Max: StackIDs - 1}, {Name: "stack", Form: u32, Max: StackIDs - 1},
		{Name: "state", Form: u16, Words: GoroutineStates}, {Name: "reason", Form: Text, Max: maxReason}},
		nil, "id state reason creator= created= since= thread= proc= site= start= stack=", 0, false},
}

// BlockOf returns the row of a type, or nil for a type of a later version.
func BlockOf(t BlockType) *BlockSpec {
	if int(t) < len(Blocks) && Blocks[t].Name != "" {
		return &Blocks[t]
	}
	return nil
}

func (t BlockType) String() string {
	if s := BlockOf(t); s != nil {
		return s.Name
	}
	return "block-" + itoa(int(t))
}

// Field returns the field of the i-th value returned by Read, which may be reserved.
func (s *BlockSpec) Field(i int) *BlockField {
	if i < len(s.Fields) {
		return &s.Fields[i]
	}
	return &s.Each[(i-len(s.Fields))%len(s.Each)]
}

// Read appends a value for each field of the payload p, and for each of the repeated
// fields. Texts, bytes and records alias p. The error wraps ErrCorrupt: the payload is too
// short or too long, or a number is out of range. It does not check times, nor that
// reserved bytes are zero; see Sound.
func (s *BlockSpec) Read(dst []Value, p []byte) ([]Value, error) { return s.read(dst, p, true) }

// ReadFields is Read without the values of the repeated fields, which may be many; it only
// checks them.
func (s *BlockSpec) ReadFields(dst []Value, p []byte) ([]Value, error) { return s.read(dst, p, false) }

func (s *BlockSpec) read(dst []Value, p []byte, all bool) ([]Value, error) {
	r := reader{s: s, p: p, vs: dst, first: len(dst)}
	for i := range s.Fields {
		if err := r.field(&s.Fields[i]); err != nil {
			return dst, err
		}
	}
	if i := s.index("base"); i >= 0 {
		r.at = r.vs[r.first+i].N
	}
	if s.Each == nil {
		if len(r.p) > 0 && !s.Longer {
			return dst, fmt.Errorf("%w: %s block of %d bytes", ErrCorrupt, s.Name, len(p))
		}
		return r.vs, nil
	}
	for n := 0; len(r.p) > 0; n++ {
		if !all {
			r.vs = r.vs[:r.first+len(s.Fields)]
		}
		if n == s.Most && n > 0 {
			return dst, fmt.Errorf("%w: %s block of %d bytes", ErrCorrupt, s.Name, len(p))
		}
		for i := range s.Each {
			if err := r.field(&s.Each[i]); err != nil {
				return dst, err
			}
		}
	}
	if !all {
		r.vs = r.vs[:r.first+len(s.Fields)]
	}
	return r.vs, nil
}

// reader is the state of a Read.
type reader struct {
	s     *BlockSpec
	p     []byte // the rest
	vs    []Value
	first int   // of vs
	at    int64 // of since
	last  int64 // of diff
}

var sizes = [...]int{i64: 8, u64: 8, u32: 4, u16: 2, u48: 6, Text16: 2, OneRecord: RecordSize}

// field reads one field of the payload.
func (r *reader) field(f *BlockField) error {
	if f.Form == since {
		r.vs = append(r.vs, Value{N: r.at})
		return nil
	}
	n := 0
	if int(f.Form) < len(sizes) {
		n = sizes[f.Form]
	}
	if len(r.p) < n {
		return fmt.Errorf("%w: %s block without its %s", ErrCorrupt, r.s.Name, f.Name)
	}
	v, n, err := r.value(f, n)
	if err != nil {
		return err
	}
	r.p = r.p[n:]
	size := v.N
	if v.B != nil {
		size = int64(len(v.B))
	}
	if (f.Min != 0 || f.Max != 0) && (size < f.Min || size > f.Max) || f.Is == recordPlace && size%RecordSize != 0 {
		return fmt.Errorf("%w: %s block with %s %d", ErrCorrupt, r.s.Name, f.Name, size)
	}
	r.vs = append(r.vs, v)
	return nil
}

// value reads the value of a field, whose fixed part has n bytes, and returns its total
// size.
func (r *reader) value(f *BlockField, n int) (v Value, _ int, err error) {
	le := binary.LittleEndian
	switch f.Form {
	case i64, u64:
		v.N = int64(le.Uint64(r.p))
	case u32:
		v.N = int64(le.Uint32(r.p))
	case u16:
		v.N = int64(le.Uint16(r.p))
	case u48:
		v.N = int64(le.Uint32(r.p)) | int64(le.Uint16(r.p[4:]))<<32
	case Text16:
		size := int(le.Uint16(r.p))
		if size > len(r.p)-n {
			return v, 0, fmt.Errorf("%w: a %s of %d bytes in a %s block", ErrCorrupt, f.Name, size, r.s.Name)
		}
		return Value{B: r.p[n : n+size]}, n + size, nil
	case Text, Bytes:
		return Value{B: r.p}, len(r.p), nil
	case OneRecord:
		if !oneRecord(r.p) {
			return v, 0, fmt.Errorf("%w: %s block with an extension of %d bytes", ErrCorrupt, r.s.Name, len(r.p)-n)
		}
		return Value{B: r.p}, len(r.p), nil
	case delta:
		return r.delta()
	case uvarint, diff:
		return r.varint(f)
	}
	return v, n, nil
}

// delta reads a time and a number below 4.
func (r *reader) delta() (v Value, n int, err error) {
	x, n := binary.Uvarint(r.p)
	if n <= 0 {
		return v, 0, fmt.Errorf("%w: %s block with half a number", ErrCorrupt, r.s.Name)
	}
	until := r.vs[r.first+r.s.index("until")].N
	if x>>2 > uint64(max(until-r.at, 0)) {
		return v, 0, fmt.Errorf("%w: a %s block goes on after its end", ErrCorrupt, r.s.Name)
	}
	r.at += int64(x >> 2)
	return Value{N: int64(x & 3)}, n, nil
}

// varint reads a number of variable length.
func (r *reader) varint(f *BlockField) (v Value, n int, err error) {
	x, n := binary.Uvarint(r.p)
	if n <= 0 {
		return v, 0, fmt.Errorf("%w: %s block with half a %s", ErrCorrupt, r.s.Name, f.Name)
	}
	if f.Form == diff {
		r.last += int64(x>>1) ^ -int64(x&1)
		return Value{N: r.last}, n, nil
	}
	return Value{N: int64(x)}, n, nil
}

// oneRecord reports whether p is a record together with its extension, if it has one.
func oneRecord(p []byte) bool {
	r, ext := DecodeRecord(p), p[RecordSize:]
	if len(ext) == 0 {
		return !r.Ext()
	}
	return r.Ext() && len(ext)%RecordSize == 0 && IsExt(binary.LittleEndian.Uint64(ext)) && ExtUnits(binary.LittleEndian.Uint64(ext))*RecordSize == len(ext)
}

// index returns the index in Fields of the field with a name, or -1.
func (s *BlockSpec) index(name string) int {
	return slices.IndexFunc(s.Fields, func(f BlockField) bool { return f.Name == name })
}

// Append appends the payload with the values vs, as returned by Read.
func (s *BlockSpec) Append(b []byte, vs []Value) []byte {
	le := binary.LittleEndian
	at, last := int64(0), int64(0)
	if i := s.index("base"); i >= 0 {
		at = vs[i].N
	}
	for i, v := range vs {
		switch f := s.Field(i); f.Form {
		case i64, u64:
			b = le.AppendUint64(b, uint64(v.N))
		case u32:
			b = le.AppendUint32(b, uint32(v.N))
		case u16:
			b = le.AppendUint16(b, uint16(v.N))
		case u48:
			b = le.AppendUint16(le.AppendUint32(b, uint32(v.N)), uint16(v.N>>32))
		case Text16:
			b = append(le.AppendUint16(b, uint16(len(v.B))), v.B...)
		case Text, Bytes, OneRecord:
			b = append(b, v.B...)
		case delta:
			time := vs[i+1].N
			b = binary.AppendUvarint(b, uint64(time-at)<<2|uint64(v.N))
			at = time
		case uvarint:
			b = binary.AppendUvarint(b, uint64(v.N))
		case diff:
			b = binary.AppendVarint(b, v.N-last)
			last = v.N
		}
	}
	return b
}
