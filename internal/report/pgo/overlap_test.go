package pgo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report"
)

// edges returns calls from main.main, at lines 1, 2, …, with these weights.
func edges(callees string, weights ...int64) *pgo.Edges {
	e := &pgo.Edges{Weight: map[pgo.Edge]int64{}}
	for i, callee := range strings.Fields(callees) {
		e.Weight[pgo.Edge{Caller: "main.main", Callee: callee, Offset: i + 1}] = weights[i]
		e.Total += weights[i]
	}
	return e
}

// TestOverlap: the overlap is the sum of the smaller shares, and edges are sorted by the difference
// of their shares; only profiles with nothing in common are reported as profiles of two programs.
func TestOverlap(t *testing.T) {
	const strangers = "these are profiles of two programs"
	for _, c := range []struct {
		name  string
		a, b  *pgo.Edges
		want  string
		noted bool
	}{
		{"alike", edges("f g h", 50, 30, 20), edges("f g", 25, 75),
			`"a":"x","b":"y","overlap":0.55,"common_count":2,"only_a_count":1,"only_b_count":0,` +
				`"edges":[{"caller":"main.main","offset":2,"callee":"g","share_a":0.3,"share_b":0.75},` +
				`{"caller":"main.main","offset":1,"callee":"f","share_a":0.5,"share_b":0.25},` +
				`{"caller":"main.main","offset":3,"callee":"h","share_a":0.2,"share_b":0}]}`, false},
		{"strangers", edges("f", 10), edges("g", 10),
			`"a":"x","b":"y","overlap":0,"common_count":0,"only_a_count":1,"only_b_count":1,` +
				`"edges":[{"caller":"main.main","offset":1,"callee":"f","share_a":1,"share_b":0},` +
				`{"caller":"main.main","offset":1,"callee":"g","share_a":0,"share_b":1}]}`, true},
		{"nothing", edges(""), edges(""),
			`"a":"x","b":"y","overlap":0,"common_count":0,"only_a_count":0,"only_b_count":0,"edges":[]}`, false},
	} {
		r := Overlap("x", "y", c.a, c.b)
		if got, want := document(t, r), `{"schema":"scopeview.x/1",`+c.want; got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
		var b report.Text
		r.Text(&b)
		if noted := strings.Contains(b.String(), strangers); noted != c.noted {
			t.Errorf("%s: two programs: %v, want %v\n%s", c.name, noted, c.noted, b.String())
		}
	}
}

// document returns a report's compact JSON.
func document(t *testing.T, r *report.Report) string {
	t.Helper()
	var text, compact bytes.Buffer
	if err := report.WriteJSON(&text, "x", r.Document, 0); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&compact, text.Bytes()); err != nil {
		t.Fatal(err)
	}
	return compact.String()
}
