package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

var someHot = HotHeader{Slots: 3, ID: [16]byte{0xab, 15: 0x01}, Path: "/traces/x.scope"}

func hotBytes(t testing.TB, h HotHeader) []byte {
	t.Helper()
	b, err := AppendHotHeader(nil, &h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHotHeader(t *testing.T) {
	for _, h := range []HotHeader{
		someHot,
		{Slots: 1, Path: "/"},
		{Slots: fewHotSlots, ID: someHot.ID, Path: "/x"},
		{Slots: fewHotSlots + 1, ID: someHot.ID, Path: "/x"},
		{Slots: MaxHotSlots, ID: someHot.ID, Path: "/" + strings.Repeat("x", maxHotPath-1)},
	} {
		b := hotBytes(t, h)
		if len(b) != hotPathOffset+len(h.Path) || len(b) > HotTableOffset {
			t.Errorf("%d bytes for a path of %d", len(b), len(h.Path))
		}
		if got, err := DecodeHotHeader(b); got != h || err != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		if got, err := DecodeHotHeader(append(b, make([]byte, 100)...)); got != h || err != nil {
			t.Errorf("with more behind it: %+v, %v", got, err)
		}
	}
	for _, h := range []HotHeader{{Slots: 0, Path: "/x"}, {Slots: MaxHotSlots + 1, Path: "/x"}, {Slots: 1}, {Slots: 1, Path: strings.Repeat("x", maxHotPath+1)}} {
		if b, err := AppendHotHeader([]byte("abc"), &h); err == nil || string(b) != "abc" {
			t.Errorf("%d slots, a path of %d bytes: %d bytes, %v", h.Slots, len(h.Path), len(b), err)
		}
	}
	if b, err := AppendHotHeader([]byte("abc"), &someHot); err != nil || !bytes.Equal(b[3:], hotBytes(t, someHot)) {
		t.Errorf("appended to something it is %x, %v", b, err)
	}
	b := hotBytes(t, someHot)
	for i := range 8 * len(b) {
		b[i/8] ^= 1 << (i % 8)
		if _, err := DecodeHotHeader(b); err == nil {
			t.Errorf("bit %d flipped, and no error", i)
		}
		b[i/8] ^= 1 << (i % 8)
	}
	for n := range b {
		if _, err := DecodeHotHeader(b[:n]); !errors.Is(err, ErrNotHot) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestHotHeaderOfOthers: numbers that our writers never write, with a valid
// checksum.
func TestHotHeaderOfOthers(t *testing.T) {
	le := binary.LittleEndian
	for _, tc := range []struct {
		name  string
		at    int
		value uint32
		want  error
	}{
		{"version 0", 8, 0, ErrNewer}, {"version 3", 8, 3, ErrNewer}, {"version 2 with few slots", 8, 2, ErrNotHot}, {"version 1 with many", 12, 7169, ErrNotHot},
		{"no slots", 12, 0, ErrNotHot}, {"slots", 12, MaxHotSlots + 1, ErrNotHot}, {"many slots", 12, 1<<32 - 1, ErrNotHot},
		{"no path", 32, 0, ErrNotHot}, {"path", 32, 200, ErrNotHot}, {"long path", 32, maxHotPath + 1, ErrNotHot}, {"very long path", 32, 1<<32 - 1, ErrNotHot},
	} {
		b := append(hotBytes(t, someHot), make([]byte, 100)...)
		le.PutUint32(b[tc.at:], tc.value)
		n := min(int(le.Uint32(b[32:])), len(b)-hotPathOffset)
		le.PutUint32(b[60:], crc32.Update(crc32.Checksum(b[:60], castagnoli), castagnoli, b[hotPathOffset:hotPathOffset+max(n, 0)]))
		if _, err := DecodeHotHeader(b); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

func TestHotNames(t *testing.T) {
	name := HotName(someHot.ID)
	if want := "scopeview-ab000000000000000000000000000001.hot"; name != want {
		t.Errorf("the name is %q, want %q", name, want)
	}
	for name, want := range map[string]bool{
		name: true, name + "x": false, name[1:]: false, strings.Replace(name, ".hot", ".hit", 1): false, "": false, "scopeview-.hot": false,
	} {
		if got := IsHotName(name); got != want {
			t.Errorf("IsHotName(%q) = %v", name, got)
		}
	}
	for _, c := range []struct {
		slots     int
		version   uint32
		begin, at int64 // of the first and the third slot
	}{
		{3, 1, 64 << 10, 3 * 64 << 10}, {7168, 1, 64 << 10, 3 * 64 << 10}, {7169, 2, 128 << 10, 4 * 64 << 10},
		{15360, 2, 128 << 10, 4 * 64 << 10}, {15361, 2, 192 << 10, 5 * 64 << 10}, {MaxHotSlots, 2, 9 * 64 << 10, 11 * 64 << 10},
	} {
		if begin, at, v := HotSlot(c.slots, 0), HotSlot(c.slots, 2), hotVersionOf(uint32(c.slots)); begin != c.begin || at != c.at || v != c.version {
			t.Errorf("%d slots: version %d, they begin at %d, the third is at %d, want %+v", c.slots, v, begin, at, c)
		}
		if end := HotSize(c.slots); end != c.begin+int64(c.slots)*ChunkSize || c.begin < HotTableOffset+8*int64(c.slots) {
			t.Errorf("%d slots end at %d", c.slots, end)
		}
	}
}

func FuzzDecodeHotHeader(f *testing.F) {
	f.Add(hotBytes(f, someHot))
	f.Add(hotBytes(f, HotHeader{Slots: MaxHotSlots, Path: strings.Repeat("/x", maxHotPath/2)}))
	f.Add([]byte(hotMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHotHeader(b)
		if err != nil {
			return
		}
		again, err := AppendHotHeader(nil, &h)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := DecodeHotHeader(again); got != h || err != nil {
			t.Errorf("%+v became %+v, %v", h, got, err)
		}
	})
}
