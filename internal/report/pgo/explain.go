package pgo

import (
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/report"
)

// explainDocument describes how the compiler used a profile.
type explainDocument struct {
	Total    int64                  `json:"total" unit:"as in the profile" says:"of all calls"`
	Least    float64                `json:"hot_share" unit:"share" says:"share of all weight that the lightest hot call has"`
	Verdicts []verdict              `json:"verdicts"`
	Edges    report.List[explained] `json:"edges"`
}

// verdict sums up the edges with a verdict.
type verdict struct {
	Verdict explain.Verdict `json:"verdict" head:"what the compiler did" prose:"" says:"as 'edges[].verdict', and 'not hot' for the others"`
	Edges   int             `json:"edge_count" head:"edges" unit:"count"`
	Weight  int64           `json:"weight" unit:"as in the profile"`
	Share   float64         `json:"share" head:"%" unit:"share" says:"of all weight"`
}

var verdicts = report.Table{Row: verdict{}, Text: "%, edges, what the compiler did"}

// explained is a hot edge with the compiler's treatment.
type explained struct {
	edge
	Weight        int64           `json:"weight" unit:"as in the profile" says:"the heaviest hot call comes first"`
	Share         float64         `json:"share" head:"%" unit:"share" says:"of all weight"`
	Verdict       explain.Verdict `json:"verdict" says:"what the compiler did, in a few words"`
	Why           string          `json:"why" prose:"" says:"the verdict and its reason, in a sentence"`
	Cost          report.Int      `json:"cost" unit:"as the compiler counts" says:"of inlining the callee; null: not known"`
	Devirtualized string          `json:"devirtualized" says:"the function that is called directly now; empty: none"`
	File          string          `json:"file" says:"of the call; empty: not known"`
	Line          int             `json:"line" unit:"line" says:"0: not known"`
}

var hotCalls = report.Table{Row: explained{}, What: "hot call", Text: "%, caller, line, calls, =why"}

// Explain reports how the compiler used the hot edges of a profile.
func Explain(r *explain.Report) *report.Report {
	d := &explainDocument{Total: r.Total, Least: r.Threshold / 100, Verdicts: []verdict{}}
	for _, s := range r.Sums {
		d.Verdicts = append(d.Verdicts, verdict{s.Verdict, s.Edges, s.Weight, s.Share})
	}
	rows := report.RowsOf(r.Edges, func(e explain.Edge) explained {
		return explained{edge{e.Caller, e.Offset, e.Callee}, e.Weight, e.Share, e.Verdict, e.Text, report.Known(int64(e.Cost), e.Cost > 0), e.Devirtualized, e.File, e.Line}
	})
	d.Edges = report.All(rows)
	return &report.Report{Document: d, Text: func(b *report.Text) {
		if len(rows) == 0 {
			b.WriteString("the profile has no calls, so the compiler does not use it\n")
			return
		}
		verdicts.Write(b, d.Verdicts)
		hotCalls.WriteAfter(b, rows)
	}}
}
