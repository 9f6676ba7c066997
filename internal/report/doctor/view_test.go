package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/doctor"
)

// TestView: findings by verdict and object, a gain that is unknown, and verdicts that were not
// examined.
func TestView(t *testing.T) {
	f := figures(&doctor.Report{
		Findings:   []doctor.Finding{{Verdict: "lock-contention", Object: "words.mu", Share: 0.41, Gain: 0.4, Confidence: 0.9}, {Verdict: "gc", Share: 0.3, Gain: -1, Confidence: 0.5}},
		Speedup:    []doctor.Slice{{Name: "running", Cores: 1.5}},
		Cores:      doctor.Cores{Count: 2},
		Unexamined: []doctor.Unexamined{{Verdicts: []doctor.Verdict{"channel", "convoy"}, Why: "it has no Go execution trace"}},
		Notes:      []string{"half of it is missing"},
	})
	var got []string
	for _, r := range f.Rows {
		if len(r.Values) != len(View.Columns) {
			t.Fatalf("%d values of %d columns", len(r.Values), len(View.Columns))
		}
		got = append(got, fmt.Sprint(r.Name, ", ", r.Kind, ": ", r.Values))
	}
	want := "lock-contention of words.mu, finding: [0.41 0.4 0.9 NaN]; gc, finding: [0.3 NaN 0.5 NaN]; running, cores' time: [0.75 NaN NaN 1.5]"
	if strings.Join(got, "; ") != want {
		t.Errorf("%s, want %s", strings.Join(got, "; "), want)
	}
	if notes := strings.Join(f.Notes, "; "); notes != "half of it is missing; not looked for: channel, convoy, because it has no Go execution trace" {
		t.Error(notes)
	}
}
