package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
)

// infoText writes the report for people.
func infoText(r *analysis.Report, w io.Writer, s styles) error {
	var b strings.Builder
	for _, f := range r.Facts() {
		text := f.Text
		switch f.Loud {
		case analysis.Loud:
			text = s.red(text)
		case analysis.Odd:
			text = s.yellow(text)
		}
		fmt.Fprintf(&b, "%s  %s\n", s.bold(fmt.Sprintf("%-14s", f.Label)), text)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
