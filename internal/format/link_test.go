package format

import (
	"strings"
	"testing"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

func TestParseTraceparent(t *testing.T) {
	for _, test := range []struct {
		about, header string
		ok            bool
	}{
		{"the example of the specification", parent, true},
		{"not sampled", "00-" + traceID + "-" + spanID + "-00", true},
		{"a random id", "00-" + traceID + "-" + spanID + "-02", true},
		{"sampled, with a random id", "00-" + traceID + "-" + spanID + "-03", true},
		{"a later version", "01-" + traceID + "-" + spanID + "-01", true},
		{"a later version with more", "cc-" + traceID + "-" + spanID + "-01-what-the-future-says", true},
		{"a later version, ended by a hyphen", "cc-" + traceID + "-" + spanID + "-01-", true},
		{"a later version without a hyphen", "cc-" + traceID + "-" + spanID + "-01.more", false},
		{"version 00 with more", parent + "-more", false},
		{"version 00 with a hyphen", parent + "-", false},
		{"version ff", "ff-" + traceID + "-" + spanID + "-01", false},
		{"nothing", "", false},
		{"one short", parent[:54], false},
		{"no trace id", "00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", false},
		{"no span id", "00-" + traceID + "-" + strings.Repeat("0", 16) + "-01", false},
		{"upper case", "00-" + strings.ToUpper(traceID) + "-" + spanID + "-01", false},
		{"upper case flags", "00-" + traceID + "-" + spanID + "-0A", false},
		{"no digit in the version", "0g-" + traceID + "-" + spanID + "-01", false},
		{"no digit in the span id", "00-" + traceID + "-" + spanID[1:] + "z-01", false},
		{"spaces", " " + parent, false},
		{"a space behind", parent + " ", false},
		{"a wrong hyphen", strings.Replace(parent, "-", "_", 1), false},
		{"two headers", parent + "," + parent, false},
		{"not ASCII", "00-" + traceID[:30] + "é-" + spanID + "-01", false},
	} {
		l, ok := ParseTraceparent(test.header)
		if ok != test.ok {
			t.Errorf("%s: %q is valid: %t", test.about, test.header, ok)
		}
		if want := "00" + test.header[min(2, len(test.header)):min(55, len(test.header))]; ok && l.Traceparent() != want {
			t.Errorf("%s: %q became %q", test.about, test.header, l.Traceparent())
		}
		if !ok && l != (Link{}) {
			t.Errorf("%s: something is left: %v", test.about, l)
		}
	}
}

// TestUnknownFlags: flags of later versions are not passed on.
func TestUnknownFlags(t *testing.T) {
	for flags, want := range map[string]string{"ff": "03", "04": "00", "f9": "01"} {
		l, ok := ParseTraceparent("00-" + traceID + "-" + spanID + "-" + flags)
		if got := l.Traceparent(); !ok || got[53:] != want {
			t.Errorf("%s became %q, want %s", flags, got, want)
		}
	}
	if got := (Link{Trace: [16]byte{1}, Span: [8]byte{1}, Flags: 0xf1}).Traceparent(); got[53:] != "01" {
		t.Errorf("a link with unknown flags is %q", got)
	}
}

func FuzzParseTraceparent(f *testing.F) {
	f.Add(parent)
	f.Add("cc-" + traceID + "-" + spanID + "-01-more")
	f.Fuzz(func(t *testing.T, s string) {
		l, ok := ParseTraceparent(s)
		if !ok {
			if l != (Link{}) {
				t.Errorf("%q: something is left: %v", s, l)
			}
			return
		}
		if got := l.Traceparent(); got[2:54] != s[2:53]+"0" || got[54] > '3' {
			t.Errorf("%q became %q", s, got)
		}
		if again, ok := ParseTraceparent(l.Traceparent()); !ok || again != l {
			t.Errorf("%q: %v, read again %v", s, l, again)
		}
	})
}

func TestTraceparentOfNone(t *testing.T) {
	for _, l := range []Link{{}, {Trace: [16]byte{1}}, {Span: [8]byte{1}}} {
		if got := l.Traceparent(); got != "" {
			t.Errorf("%v: %q", l, got)
		}
	}
}

func TestLinkOf(t *testing.T) {
	addr := func(vs ...uint64) (slots []Slot) {
		for _, v := range vs {
			slots = append(slots, Slot{Type: SlotAddr, Value: v})
		}
		return slots
	}
	number := Slot{Type: SlotInt, Value: 5}
	l, _ := ParseTraceparent(parent)
	l.Parent, l.Flags = [8]byte{7: 9}, 0 // flags are not recorded
	words := l.Words()
	if words[0] != 0x4bf92f3577b34da6 || words[3] != 9 {
		t.Errorf("the words are %#x", words)
	}
	link := addr(words[:]...)
	for _, test := range []struct {
		about string
		slots []Slot
		at    int
	}{
		{"nothing", nil, -1},
		{"alone", link, 0},
		{"between", append(append([]Slot{number, number}, link...), number), 2},
		{"a lock's address", append(addr(0x10), number, number, number), -1},
		{"three", link[:3], -1},
		{"not in a row", append(append(append([]Slot{}, link[:2]...), number), link[2:]...), -1},
		{"no trace id", addr(0, 0, 1, 2), -1},
		{"behind an address", addr(append([]uint64{0}, words[:]...)...), 0}, // only the form counts
		{"half a trace id", addr(0, 1, 0, 0), 0},
	} {
		if at := LinkAt(test.slots); at != test.at {
			t.Errorf("%s: it is at %d, want %d", test.about, at, test.at)
		}
		if got, ok := LinkOf(test.slots); ok != (test.at >= 0) || test.at == 2 && got != l {
			t.Errorf("%s: %v, %t", test.about, got, ok)
		}
	}
}
