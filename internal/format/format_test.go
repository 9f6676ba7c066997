package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

var someHeader = Header{
	Major: 1, ChunkSize: 64 << 10, PageSize: 4096, PID: 42, Clock: ClockTSC, Path: PathGo, Backing: BackingHeap, Witness: 7,
	ID: [16]byte{1, 15: 9}, StartTicks: 123, StartMono: -5, StartWall: 1 << 60, TickRate: 2_300_000_000, Limit: 1 << 30, Ring: 77,
}

func headerBytes(h Header) []byte {
	b := AppendHeader(nil, &h)
	b = append(b, make([]byte, StateOffset+StateSize-len(b))...)
	binary.LittleEndian.PutUint64(b[StateOffset+StateClosed:], 1)
	binary.LittleEndian.PutUint64(b[StateOffset+StateTick:], 77)
	binary.LittleEndian.PutUint64(b[StateOffset+StateEnd:], 1<<40)
	binary.LittleEndian.PutUint64(b[StateOffset+StateLost:], 3)
	binary.LittleEndian.PutUint64(b[StateOffset+StateOverwritten:], 4)
	binary.LittleEndian.PutUint64(b[StateOffset+StateUntil:], 5)
	binary.LittleEndian.PutUint64(b[StateOffset+StateJoined:], 1)
	binary.LittleEndian.PutUint64(b[StateOffset+StateFiles:], 6)
	return b
}

func TestHeader(t *testing.T) {
	b := headerBytes(someHeader)
	h, s, err := DecodeHeader(b)
	if err != nil || h != someHeader || s != (State{true, 77, 1 << 40, 3, 4, 5, true, 6}) {
		t.Errorf("got %+v, %+v, %v", h, s, err)
	}
	change := func(f func(*Header)) []byte {
		h := someHeader
		f(&h)
		return headerBytes(h)
	}
	for _, tc := range []struct {
		name string
		b    []byte
		want error
	}{
		{"empty", nil, ErrEmpty},
		{"short", []byte("SCOPE"), ErrNotTrace},
		{"other", bytes.Repeat([]byte("x"), 500), ErrNotTrace},
		{"only magic", b[:8], ErrCorrupt},
		{"cut off", b[:191], ErrCorrupt},
		{"newer and cut off", change(func(h *Header) { h.Major = 2 })[:12], ErrNewer},
		{"newer", change(func(h *Header) { h.Major = 9 }), ErrNewer},
		{"minor", change(func(h *Header) { h.Minor = 9 }), nil},
		{"chunk size", change(func(h *Header) { h.ChunkSize = 5000 }), ErrCorrupt},
		{"small chunk", change(func(h *Header) { h.ChunkSize = 2048 }), ErrCorrupt},
		{"large chunk", change(func(h *Header) { h.ChunkSize = 32 << 20 }), ErrCorrupt},
		{"no rate", change(func(h *Header) { h.TickRate = 0 }), ErrCorrupt},
		{"no start", change(func(h *Header) { h.StartTicks = 0 }), ErrCorrupt},
		{"start too late", change(func(h *Header) { h.StartTicks = MaxTicks }), ErrCorrupt},
	} {
		if _, _, err := DecodeHeader(tc.b); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
	for i := range 8 * HeaderSize {
		b[i/8] ^= 1 << (i % 8)
		if _, _, err := DecodeHeader(b); err == nil {
			t.Errorf("bit %d flipped, and no error", i)
		}
		b[i/8] ^= 1 << (i % 8)
	}
}

func TestChunkHeader(t *testing.T) {
	want := ChunkHeader{Kind: ChunkRecords, Path: PathAssembly, Index: 3, Owner: 5, Since: 1000, Gen: 1, Flags: FlagEnds, Sealed: 640}
	b := make([]byte, ChunkHeaderSize)
	PutChunkHeader(b, &want)
	h, ok, err := DecodeChunkHeader(b, 3*4096, 4096)
	if h != want || !ok || err != nil {
		t.Errorf("got %+v, %v, %v", h, ok, err)
	}
	if _, ok, err := DecodeChunkHeader(make([]byte, 64), 4096, 4096); ok || err != nil {
		t.Errorf("not handed out: %v, %v", ok, err)
	}
	if _, ok, err := DecodeChunkHeader(b[:63], 3*4096, 4096); ok || err != nil {
		t.Errorf("cut off: %v, %v", ok, err)
	}
	for name, change := range map[string]func(*ChunkHeader){
		"index":    func(h *ChunkHeader) { h.Index = 4 },
		"sealed":   func(h *ChunkHeader) { h.Sealed = 4097 },
		"sealed<0": func(h *ChunkHeader) { h.Sealed = -1 },
		"since":    func(h *ChunkHeader) { h.Since = 0 },
		"since>":   func(h *ChunkHeader) { h.Since = MaxTicks },
	} {
		h := want
		change(&h)
		PutChunkHeader(b, &h)
		if _, ok, err := DecodeChunkHeader(b, 3*4096, 4096); ok || !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	b[0] = 1
	if _, ok, err := DecodeChunkHeader(b, 3*4096, 4096); ok || !errors.Is(err, ErrCorrupt) {
		t.Errorf("magic: %v, %v", ok, err)
	}
}

func TestRecord(t *testing.T) {
	r := Record{Start: 5, Stop: -7, Head: Head(MaxGoid, KindTaskf, true, 0xffff), CPU: 1000<<2 | uint64(AtMost)}
	b := AppendRecord(nil, &r)
	got := DecodeRecord(b)
	if got != r || got.Goid() != MaxGoid || got.Kind() != KindTaskf || !got.Ext() || got.Name() != 0xffff || !got.Open() || got.CPUTicks() != 1000 || got.Quality() != AtMost {
		t.Errorf("got %+v", got)
	}
	r.Head = Head(1<<40|3, KindEvent, false, 2) // a goroutine id that is too large must not overflow
	if r.Goid() != 3 || r.Kind() != KindEvent || r.Ext() || r.Name() != 2 {
		t.Errorf("head %x", r.Head)
	}
	s := OpenStop(1<<22|5, 1<<32-1, 255)
	if s >= 0 || s>>40&0x3fffff != 5 || s&ApartBit != 0 {
		t.Errorf("open stop %x", uint64(s))
	}
	if IsExt(uint64(MaxTicks-1)) || IsExt(0) || !IsExt(ExtHeader(1, 0)) || IsExt(ExtHeader(0, 0)) {
		t.Error("a time is taken for an extension, or the other way round")
	}
}

var someSlots = []Slot{
	{Type: SlotInt, Value: 1<<64 - 1}, {Type: SlotUint, Value: 5}, {Type: SlotFloat, Value: math.Float64bits(1.5)}, {Type: SlotBool, Value: 1},
	{Type: SlotString, Str: []byte("seven bytes and more"), Full: 2000}, {Type: SlotType_, Str: []byte{}, Full: 0}, {Type: SlotCut, Value: 3},
}

func TestExt(t *testing.T) {
	for n := range someSlots {
		b, err := AppendExt(nil, someSlots[:n])
		if err != nil || len(b)%RecordSize != 0 || ExtUnits(binary.LittleEndian.Uint64(b)) != len(b)/RecordSize {
			t.Fatalf("%d slots: %d bytes, %v", n, len(b), err)
		}
		got, err := DecodeExt(nil, b)
		if err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got, someSlots[:n]) {
			t.Errorf("%d slots: %+v, %v", n, got, err)
		}
		if s := someSlots[0]; s.Int() != -1 {
			t.Errorf("int %d", s.Int())
		}
	}
	if f := someSlots[2].Float(); f != 1.5 {
		t.Errorf("float %v", f)
	}
	if _, err := AppendExt(nil, make([]Slot, MaxSlots+1)); err == nil {
		t.Error("too many slots, and no error")
	}
	long := bytes.Repeat([]byte("x"), MaxString)
	if _, err := AppendExt(nil, []Slot{{Type: SlotString, Str: long}, {Type: SlotString, Str: long}, {Type: SlotString, Str: long},
		{Type: SlotString, Str: long}, {Type: SlotString, Str: long}, {Type: SlotString, Str: long}, {Type: SlotString, Str: long}, {Type: SlotString, Str: long}}); err == nil {
		t.Error("too long, and no error")
	}
	le := binary.LittleEndian
	word := func(vs ...uint64) []byte {
		var b []byte
		for _, v := range vs {
			b = le.AppendUint64(b, v)
		}
		return b
	}
	for _, tc := range []struct {
		name string
		b    []byte
		n    int // slots before the error
	}{
		{"short", word(1), 0},
		{"no header", word(5, 0, 0, 0), 0},
		{"longer than its space", word(ExtHeader(2, 1), 0, 0, 0), 0},
		{"too many slots for its length", word(ExtHeader(1, 0x1111), 1, 2, 3), 3},
		{"string beyond its end", word(ExtHeader(1, 0x61), 1, 100, 0), 1},
		{"string too long", word(ExtHeader(1, 0x6), MaxString+1, 0, 0), 0},
	} {
		got, err := DecodeExt(nil, tc.b)
		if !errors.Is(err, ErrCorrupt) || len(got) != tc.n {
			t.Errorf("%s: %v, %v", tc.name, got, err)
		}
	}
}

func TestBlock(t *testing.T) {
	b := AppendBlock(nil, BlockInfo, AppendInfo(nil, "key", "value"))
	n := len(b)
	b = append(b, make([]byte, 32)...)
	typ, p, size, err := DecodeBlock(b)
	vs, err2 := decode(BlockInfo, p)
	if typ != BlockInfo || size != n || n%8 != 0 || err != nil || err2 != nil || string(vs[0].B) != "key" || string(vs[1].B) != "value" {
		t.Errorf("got %v %v %d %v %v", typ, vs, size, err, err2)
	}
	if _, _, size, err := DecodeBlock(b[n:]); size != 0 || err != nil {
		t.Errorf("no block: %d, %v", size, err)
	}
	for i := range 8 * 12 { // the header without its padding
		b[i/8] ^= 1 << (i % 8)
		if _, _, size, err := DecodeBlock(b); err == nil || size < 0 || size > len(b) {
			t.Errorf("bit %d flipped: %d, %v", i, size, err)
		}
		b[i/8] ^= 1 << (i % 8)
	}
	b[BlockHeaderSize] ^= 1
	if _, _, size, err := DecodeBlock(b); !errors.Is(err, ErrCorrupt) || size != n {
		t.Errorf("payload changed: %d, %v", size, err)
	}
}

func TestPayloads(t *testing.T) {
	c := Calib{1, 2, 3, 4}
	if got, err := DecodeCalib(AppendCalib(nil, &c)); got != c || err != nil {
		t.Errorf("calib %+v, %v", got, err)
	}
	g := Gap{1, 2, 3, LossSpace}
	if got, err := DecodeGap(AppendGap(nil, &g)); got != g || err != nil {
		t.Errorf("gap %+v, %v", got, err)
	}
	f := Frame{7, "main.f", "/src/main.go", 12, 10, true}
	if got, err := DecodeFrame(AppendFrame(nil, &f)); got != f || err != nil {
		t.Errorf("frame %+v, %v", got, err)
	}
	long := Frame{Function: strings.Repeat("f", 2*MaxName), File: strings.Repeat("p", 2*MaxName)}
	if got, err := DecodeFrame(AppendFrame(nil, &long)); len(got.Function) != MaxName || len(got.File) != MaxName || err != nil {
		t.Errorf("long frame: %d and %d bytes, %v", len(got.Function), len(got.File), err)
	}
	s := Stack{9, true, []uint32{7, 8, 7}}
	if got, err := DecodeStack(AppendStack(nil, &s)); !reflect.DeepEqual(got, s) || err != nil {
		t.Errorf("stack %+v, %v", got, err)
	}
	cs := []Count{{2, 9, 100, -5}, {MaxNames - 1, MaxStacks - 1, 1 << 62, 1 << 62}}
	if ticks, got, err := DecodeCounts(nil, AppendCounts(nil, 9, cs)); ticks != 9 || !reflect.DeepEqual(got, cs) || err != nil {
		t.Errorf("counts %d %+v, %v", ticks, got, err)
	}
	vs := []FieldValue{{FieldRSS, 5}, {FieldUser, -1}}
	if ticks, got, err := DecodeBeat(nil, AppendBeat(nil, 9, vs)); ticks != 9 || !reflect.DeepEqual(got, vs) || err != nil {
		t.Errorf("beat %d %+v, %v", ticks, got, err)
	}
	ts := []Thread{{1, 2, -1}, {4, 5, 6}}
	if ticks, got, err := DecodeThreads(nil, AppendThreads(nil, 9, ts)); ticks != 9 || !reflect.DeepEqual(got, ts) || err != nil {
		t.Errorf("threads %d %+v, %v", ticks, got, err)
	}
	if id, name, err := DecodeName(AppendName(nil, 7, "f1")); id != 7 || string(name) != "f1" || err != nil {
		t.Errorf("name %d %q, %v", id, name, err)
	}
	if vs, err := decode(BlockStop, AppendTicks(nil, 5)); err != nil || vs[0].N != 5 {
		t.Errorf("ticks %v, %v", vs, err)
	}
	if vs, err := decode(BlockBreak, AppendBreak(nil, 5, 6)); err != nil || vs[0].N != 5 || vs[1].N != 6 {
		t.Errorf("break %v, %v", vs, err)
	}
	if vs, err := decode(BlockNote, AppendNote(nil, 5, "x")); err != nil || vs[0].N != 5 || string(vs[1].B) != "x" {
		t.Errorf("note %v, %v", vs, err)
	}
	short := func(name string, err error) {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("short %s: %v", name, err)
		}
	}
	p := make([]byte, 7)
	_, err := DecodeCalib(p)
	short("calib", err)
	_, err = DecodeGap(p)
	short("gap", err)
	_, _, err = DecodeBeat(nil, p)
	short("beat", err)
	_, _, err = DecodeThreads(nil, p)
	short("threads", err)
	_, _, err = DecodeName(p)
	short("name", err)
	_, err = decode(BlockInfo, []byte{200, 0, 1})
	short("info", err)
	_, err = decode(BlockInfo, nil)
	short("info", err)
	_, err = decode(BlockStop, p)
	short("ticks", err)
	_, err = decode(BlockBreak, p)
	short("break", err)
	_, err = decode(BlockNote, p)
	short("note", err)
	_, err = DecodeFrame(p)
	short("frame", err)
	_, err = DecodeFrame([]byte{12: 0, 14: 2, 16: 'f'})
	short("frame's function", err)
	_, err = DecodeFrame([]byte{2: 8, 15: 0})
	short("frame id", err)
	_, err = DecodeStack(p)
	short("stack", err)
	_, err = DecodeStack([]byte{0, 0, 4, 0, 7: 0})
	short("stack id", err)
	_, err = DecodeStack(AppendStack(nil, &Stack{ID: 1, Frames: make([]uint32, MaxStackFrames+1)}))
	short("too deep a stack", err)
	_, _, err = DecodeCounts(nil, p)
	short("counts", err)
	_, _, err = DecodeCounts(nil, AppendCounts(nil, 1, []Count{{1, 1, -1, 0}}))
	short("negative count", err)
	_, _, err = DecodeName(AppendName(nil, 1, strings.Repeat("x", MaxName+1)))
	short("too long a name", err)
	_, _, err = DecodeName([]byte{0, 0, 1, 0, 0, 0, 0, 0})
	short("name id", err)
}

// FuzzDecode: decoders accept any bytes.
func FuzzDecode(f *testing.F) {
	ext, _ := AppendExt(nil, someSlots)
	f.Add(ext)
	f.Add(AppendBlock(nil, BlockBeat, AppendBeat(nil, 1, []FieldValue{{FieldRSS, 5}})))
	f.Add(headerBytes(someHeader))
	f.Fuzz(func(t *testing.T, b []byte) {
		DecodeHeader(b)
		DecodeChunkHeader(b, 4096, 4096)
		if slots, err := DecodeExt(nil, b); err == nil && len(slots) > MaxSlots {
			t.Errorf("%d slots", len(slots))
		}
		if _, p, size, err := DecodeBlock(b); size < 0 || size > len(b) || err == nil && len(p) > size {
			t.Errorf("block of %d in %d bytes", size, len(b))
		}
		DecodeCalib(b)
		DecodeGap(b)
		DecodeBeat(nil, b)
		DecodeThreads(nil, b)
		DecodeName(b)
		for _, s := range Blocks[1:] {
			decode(s.Type, b)
		}
		DecodeFrame(b)
		if s, err := DecodeStack(b); err == nil && (len(s.Frames) > MaxStackFrames || s.ID >= StackIDs) {
			t.Errorf("stack %d of %d frames", s.ID, len(s.Frames))
		}
		DecodeCounts(nil, b)
	})
}
