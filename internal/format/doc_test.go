package format

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestDocs: docs/format.md names everything that has a number in this package, with that
// number.
func TestDocs(t *testing.T) {
	b := filetest.Read(t, "../../docs/format.md")
	section := map[string]string{} // by its heading
	for _, s := range regexp.MustCompile(`(?m)^##+ `).Split(string(b), -1) {
		heading, text, _ := strings.Cut(s, "\n")
		section[heading] += text
	}
	// row requires a line of a table that begins with these cells.
	row := func(heading string, number int, cells ...string) {
		t.Helper()
		want := fmt.Sprintf("| %d |", number)
		for _, c := range cells {
			want += strings.TrimRight(" "+c, " ") + " |"
		}
		if !strings.Contains(section[heading], "\n"+want) {
			t.Errorf("section %q has no row %q", heading, want)
		}
	}
	mark := map[bool]string{true: "yes"}
	sum := map[bool]string{true: "sum"}
	for _, s := range Specs {
		row("Kinds", int(s.Kind), s.Name, mark[s.Scope], s.Word1, s.Word3, s.Ext)
	}
	for i, name := range SlotNames {
		if name != "" {
			row("5. Extensions", i, name)
		}
	}
	for _, s := range Blocks[1:] {
		row("7. Blocks", int(s.Type), s.Name, layout(s.Fields, s.Each))
	}
	for i, name := range lossNames {
		if name != "" {
			row("7. Blocks", i, name)
		}
	}
	comments := fieldComments(t)
	for _, f := range Fields {
		row("Fields of a beat", int(f.Field), f.Name, sum[f.Cumulative], comments[int(f.Field)])
	}
	for _, q := range []Quality{Unknown, Exact, Likely, AtMost} {
		row("Kinds", int(q), q.String())
	}
	for _, want := range []string{
		fmt.Sprintf("version %d.%d", Major, Minor), fmt.Sprintf("%#x", chunkMagic), "`" + Magic[:7] + "` and the byte 1",
		fmt.Sprintf("| [%d:%d) | u32 | CRC-32C (Castagnoli) of [0:%d) |", HeaderSize, HeaderSize+4, HeaderSize),
		fmt.Sprintf("| [%d:%d) | u64 | closed", StateOffset+StateClosed, StateOffset+StateClosed+8),
		fmt.Sprintf("| [%d:%d) | i64 | tick", StateOffset+StateTick, StateOffset+StateTick+8),
		fmt.Sprintf("| [%d:%d) | i64 | end", StateOffset+StateEnd, StateOffset+StateEnd+8),
		fmt.Sprintf("| [%d:%d) | i64 | lost", StateOffset+StateLost, StateOffset+StateLost+8),
		fmt.Sprintf("| [%d:%d) | u64 | joined", StateOffset+StateJoined, StateOffset+StateJoined+8),
		"| [0:8) | | `" + hotMagic + "` |", fmt.Sprintf("version, %d, or %d with more than %d slots. A reader refuses any other", hotVersion, hotVersionLarge, fewHotSlots), fmt.Sprintf("slots, 1 to %d |", MaxHotSlots),
		fmt.Sprintf("| [%d:…) | | the path", hotPathOffset), fmt.Sprintf("length of the path, 1 to %d |", maxHotPath), fmt.Sprintf("| [%d:…) | u64 each | the **table**", HotTableOffset),
		fmt.Sprintf("the bytes from %d on (the control words), up to %d,", ControlOffset, CountersOffset),
		fmt.Sprintf("| [%d:%d) | %d rows of %d u64 |", CountersOffset, ChunkSize, CounterRows, CounterRow/8), fmt.Sprintf("from 1 to %d; the other words", CounterReasons),
		"| [0:8) | | `" + segmentMagic + "` |", fmt.Sprintf("version, %d. A reader refuses any other", segmentVersion),
		fmt.Sprintf("| [%d:%d) | u32 | CRC-32C of [0:%d) |", segmentCRCOffset, SegmentHeaderSize, segmentCRCOffset),
		fmt.Sprintf("| [%d:%d) | i64 | files", StateOffset+StateFiles, StateOffset+StateFiles+8),
		fmt.Sprintf("first %d bytes of a chunk are its header", ChunkHeaderSize),
		fmt.Sprintf("| [%d:%d) | u32 | flags", ChunkFlagsOffset, ChunkFlagsOffset+4),
		fmt.Sprintf("| [%d:%d) | i64 | sealed", ChunkSealedOffset, ChunkSealedOffset+8),
		fmt.Sprintf("up to %d slots", MaxSlots), fmt.Sprintf("1 to %d", MaxExtUnits), fmt.Sprintf("more than %d bytes", MaxString),
		fmt.Sprintf("(up to %d)", MaxName), "below 65,536", "`" + OtherNames + "`",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("docs/format.md does not say %q", want)
		}
	}
}

// fieldComments returns the comments of the fields' constants, by number.
func fieldComments(t *testing.T) map[int]string {
	src := filetest.Read(t, "beat.go")
	comments := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t\w+ +Field = (\d+) +// (.+)$`).FindAllStringSubmatch(string(src), -1) {
		n, _ := strconv.Atoi(m[1])
		comments[n] = m[2]
	}
	if len(comments) != len(Fields) {
		t.Fatalf("%d of %d fields have a comment", len(comments), len(Fields))
	}
	return comments
}

// layout returns the fields of a payload as docs/format.md lists them: each with its form,
// in order.
func layout(fields, each []BlockField) string {
	forms := map[form]string{i64: "i64", u64: "u64", u32: "u32", u16: "u16", u48: "u48", Text: "text", Text16: "text16",
		Bytes: "bytes", OneRecord: "record", delta: "delta", uvarint: "uvarint", diff: "diff"}
	var list []string
	for _, f := range fields {
		if form, ok := forms[f.Form]; ok { // else it is derived from another field
			list = append(list, form+" "+cmp.Or(f.Name, "0"))
		}
	}
	if each != nil {
		list = append(list, "each: "+layout(each, nil))
	}
	return strings.Join(list, ", ")
}

// TestTables: numbers are never reused, and tables that are indexed by them are in order.
func TestTables(t *testing.T) {
	for i, s := range Specs {
		if int(s.Kind) != i+1 || s.Name == "" || s.Doc == "" || s.Kind.Spec() != &Specs[i] || s.Kind.String() != s.Name {
			t.Errorf("kind %d is %+v", i+1, s)
		}
	}
	for i, f := range Fields {
		if int(f.Field) != i+1 || f.Name == "" || f.Field.String() != f.Name {
			t.Errorf("field %d is %+v", i+1, f)
		}
	}
	for _, tc := range []struct{ got, want string }{
		{Kind(0).String(), "kind-0"}, {Kind(99).String(), "kind-99"}, {Kind(120).String(), "kind-120"}, {Field(0).String(), "field-0"},
		{Field(999).String(), "field-999"}, {Loss(0).String(), "loss-0"}, {Loss(77).String(), "loss-77"}, {LossIO.String(), "io"},
		{Clock(7).String(), "clock(7)"}, {Path(7).String(), "path(7)"}, {Backing(7).String(), "backing(7)"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}
