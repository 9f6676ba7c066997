// Package verify reports the rules of the format that a trace breaks.
package verify

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

type document struct {
	Findings report.List[finding] `json:"findings"`
}

type finding struct {
	Offset int64  `json:"offset" unit:"bytes" says:"in the file"`
	Rule   string `json:"rule" says:"a rule's name"`
	Text   string `json:"text"`
}

// Of returns the report of the findings in the file path.
func Of(path string, findings []trace.Finding) *report.Report {
	rows := report.RowsOf(findings, func(f trace.Finding) finding { return finding(f) })
	return &report.Report{
		Text:     func(b *report.Text) { text(b, path, rows) },
		Document: &document{report.All(rows)},
	}
}

// text writes the findings for people.
func text(b *report.Text, path string, findings []finding) {
	for _, f := range findings {
		fmt.Fprintf(b, "%s: at offset %d: %s: %s\n", show.Name(path), f.Offset, f.Rule, show.Text(f.Text))
	}
	verdict := "sound"
	if n := len(findings); n > 0 {
		verdict = show.Plural(n, "finding")
	}
	fmt.Fprintf(b, "%s: %s\n", show.Name(path), verdict)
}
