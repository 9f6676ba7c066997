package pgo

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
)

// explainDocument is what the compiler did with a profile.
type explainDocument struct {
	Total    int64                      `json:"total" unit:"as in the profile" says:"of all calls"`
	Least    float64                    `json:"hot_share" unit:"share" says:"of all weight, that the lightest hot call has"`
	Verdicts []verdictJSON              `json:"verdicts"`
	Edges    report.List[explainedJSON] `json:"edges"`
}

// verdictJSON is how much a verdict has.
type verdictJSON struct {
	Verdict explain.Verdict `json:"verdict" says:"as 'edges[].verdict', and 'not hot' for the others"`
	Edges   int             `json:"edge_count" unit:"count"`
	Weight  int64           `json:"weight" unit:"as in the profile"`
	Share   float64         `json:"share" unit:"share" says:"of all weight"`
}

// explainedJSON is a hot edge with what the compiler did.
type explainedJSON struct {
	Caller        string          `json:"caller"`
	Offset        int             `json:"offset" unit:"lines" says:"from the caller's first line to the call"`
	Callee        string          `json:"callee"`
	Weight        int64           `json:"weight" unit:"as in the profile" says:"the heaviest hot call comes first"`
	Share         float64         `json:"share" unit:"share" says:"of all weight"`
	Verdict       explain.Verdict `json:"verdict" says:"what the compiler did, in few words"`
	Why           string          `json:"why" says:"what it did and why, in more words"`
	Cost          *int            `json:"cost" unit:"as the compiler counts" says:"of inlining the callee; null: not known"`
	Devirtualized string          `json:"devirtualized" says:"the function that is called directly now; empty: none"`
	File          string          `json:"file" says:"of the call; empty: not known"`
	Line          int             `json:"line" unit:"line" says:"0: not known"`
}

// Explain reports what the compiler did with the hot edges of a profile.
func Explain(r *explain.Report) *report.Report {
	d := &explainDocument{Total: r.Total, Least: r.Threshold / 100, Verdicts: []verdictJSON{}}
	for _, s := range r.Sums {
		d.Verdicts = append(d.Verdicts, verdictJSON{s.Verdict, s.Edges, s.Weight, s.Share})
	}
	d.Edges = report.ListOf(r.Edges, func(e explain.Edge) explainedJSON {
		x := explainedJSON{e.Caller, e.Offset, e.Callee, e.Weight, e.Share, e.Verdict, e.Text, nil, e.Devirtualized, e.File, e.Line}
		if e.Cost > 0 {
			x.Cost = &e.Cost
		}
		return x
	})
	return &report.Report{Document: d, Text: func(b *report.Text) { d.text(b, r) }}
}

func (d *explainDocument) text(b *report.Text, r *explain.Report) {
	if len(r.Edges) == 0 {
		b.WriteString("the profile has no calls, so the compiler does nothing with it\n")
		return
	}
	report.Grid(b, "", []string{"%", "edges", "<what the compiler did"}, d.Verdicts, func(v verdictJSON) []string {
		return []string{percent(v.Share), fmt.Sprint(v.Edges), string(v.Verdict)}
	})
	b.WriteByte('\n')
	report.Grid(b, "hot call", []string{"%", "<caller", "line", "<calls", "<"}, r.Edges, func(e explain.Edge) []string {
		return []string{percent(e.Share), report.Name(e.Caller), fmt.Sprintf("%+d", e.Offset), report.Name(e.Callee), show.Text(e.Text)}
	})
}
