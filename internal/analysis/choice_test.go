package analysis

import (
	"testing"

	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestChoice(t *testing.T) {
	parse := func(expr string) glob.Filter {
		f, err := glob.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	text := map[uint16]string{1: "store.get", 2: "store.put", 3: "worker 1"}
	name := func(id uint16) string { return text[id] }
	for _, test := range []struct {
		names, tracks string
		e             trace.Event
		want          bool
	}{
		{"", "", trace.Event{Name: 1}, true},
		{"store.*", "", trace.Event{Name: 1}, true},
		{"store.*,-store.put", "", trace.Event{Name: 2}, false},
		{"store.*", "worker *", trace.Event{Name: 1}, false},
		{"store.*", "worker *", trace.Event{Name: 1, Track: 3}, true},
		{"", "-worker *", trace.Event{Name: 1, Track: 3}, false},
		{"", "-worker *", trace.Event{Name: 1}, true},
	} {
		c := NewChoice(parse(test.names), parse(test.tracks), name)
		for range 2 {
			if got := c.Keep(&test.e); got != test.want {
				t.Errorf("--name %q --track %q: %v, want %v", test.names, test.tracks, got, test.want)
			}
		}
	}
	if !NewChoice(parse("-a"), parse(""), name).Nameless() || NewChoice(parse("a"), parse(""), name).Nameless() {
		t.Error("Nameless")
	}
	// A name that becomes known later.
	c := NewChoice(parse("late"), parse(""), name)
	e := trace.Event{Name: 9}
	if c.Keep(&e) {
		t.Error("chosen without its name")
	}
	text[9] = "late"
	if !c.Keep(&e) {
		t.Error("not chosen when its name had come")
	}
}
