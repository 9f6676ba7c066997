package doctor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestSure: a confidence has the same word on the page, whose tests read these examples too.
func TestSure(t *testing.T) {
	var examples [][2]any
	if err := json.Unmarshal(filetest.Read(t, "testdata/sure.json"), &examples); err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		if word, _, _ := strings.Cut(sure(e[0].(float64)), " ("); word != e[1] {
			t.Errorf("%v is %q, want %q", e[0], word, e[1])
		}
	}
}

// TestMarksOnATerminal: the verdict is highlighted on a terminal, and nothing is elsewhere.
func TestMarksOnATerminal(t *testing.T) {
	r := &doctor.Report{
		Findings:    []doctor.Finding{{Verdict: "gc", Text: "A sentence.", Evidence: []string{"A number."}, Share: 0.5, Gain: 0.25, Confidence: 0.7, ToNS: 5}},
		Cores:       doctor.Cores{Count: 2, Why: "GOMAXPROCS"},
		Speedup:     []doctor.Slice{{Name: "running", Cores: 1.5}, {Name: "waiting", Cores: 0.5}, {Name: "little", Cores: 0.001}},
		Parallelism: []float64{0, 0.5, 0.5},
		CriticalPath: []doctor.Path{
			{Time: 2e6, Count: 1, Parts: []doctor.Part{{Name: "merge", State: "cpu", Time: 1e6, Share: 0.5}, {State: "sleep", Time: 1e6, Share: 0.5}}, WhatIf: []doctor.WhatIf{{Name: "merge", Gain: 0.31}}},
			{Of: "task", Time: 2e6, Count: 3, All: 9},
		},
		Notes: []string{"half of it is missing"},
	}
	var plain report.Text
	colour := report.Text{Color: true}
	a := &Advice{Raw: "x.raw", Best: []Advise{{ID: "slice-too-small", Place: "store.go:88", Advice: "make([]T, 0, 10)", Saves: "3 ms"}}}
	found{r, nil, "x.scope", a}.text(&plain)
	found{r, nil, "x.scope", a}.text(&colour)
	want := `gc: A sentence.
    A number.
    share 50%, gain about 25%, quite sure (0.70); from 0ns to 5ns: scopeview serve x.scope, #finding=gc%3A&tab=doctor

where the time of 2 cores went, on average (GOMAXPROCS):
           cores
  running   1.50  75%  #######################
  waiting   0.50  25%  ########

number of goroutines that ran at once, by share of the time:
running  time
      1   50%  ###############
      2   50%  ###############

critical path of the run, 2.00ms:
  scope       state    time  share
  merge       cpu    1.00ms    50%
  (no scope)  sleep  1.00ms    50%
  if merge were free: -31%

critical path of task (3 of 9 scopes), 2.00ms:
  the goroutines' states are not known

note: half of it is missing
advice, of the whole run:
  store.go:88: slice-too-small: make([]T, 0, 10); saves 3 ms
  scopeview advise x.raw shows all
`
	if got := plain.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(colour.String(), "\x1b[1;31mgc:\x1b[0m") || strings.Contains(plain.String(), "\x1b") {
		t.Error("the verdict is not red on a terminal, or it is elsewhere")
	}
}
