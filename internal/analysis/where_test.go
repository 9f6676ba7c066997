package analysis

import (
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestWhere has the events that conditions select; the page's search finds the same (TestFixtures of package
// page).
func TestWhere(t *testing.T) {
	tr := tracetest.OpenText(t, `header start=1000
state closed=1 tick=9000
chunk blocks
name 2 "work"
name 3 "parse"
name 4 "status"
stop ticks=90000
chunk records
task "work" g=1 start=2000 stop=22000 cpu=2000/exact | key:"status" int:500
task "work" g=1 start=32000 stop=37000 cpu=4000/most | key:"status" int:200 string:"Two Words"
task "parse" g=2 start=42000 stop=57000 cpu=0/unknown
event "parse" g=2 start=43000
`)
	for text, want := range map[string][]int64{
		"work":                {1000, 31000},
		"WORK":                {1000, 31000},
		"-work":               {41000, 42000},
		"dur>10us":            {1000, 41000},
		"-dur>10us":           {31000, 42000}, // the duration of an instant is not known to be longer
		"work>10us":           {1000},
		"cpu>1us":             {1000},
		"status=500":          {1000},
		"status>300":          {1000},
		"status<=500 work":    {1000, 31000},
		`"two words"`:         {31000},
		"two words":           {31000},
		"name:parse dur<20us": {41000},
		"dur=15us":            {41000},
		"a>b":                 nil,
	} {
		w, err := ParseWhere(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		choice := (&Selection{Where: w}).Choice(tr)
		var got []int64
		if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if e.Kind != format.KindTrack && choice.Keep(e) {
				got = append(got, e.Start)
			}
			return true
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if choice.All() || choice.Nameless() {
			t.Errorf("%s: the choice has all events, or heartbeats", text)
		}
	}
	for _, text := range []string{"", "  ", `"open`, `x "open`} {
		if _, err := ParseWhere(text); err == nil {
			t.Errorf("%q has no error", text)
		}
	}
}
