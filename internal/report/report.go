// Package report has the common parts of the tool's reports: tables and marks for people, and JSON
// documents for programs. Each report is a package below it with a function Of, which reads its
// data and returns the text and the document. A command of cmd/scopeview parses its flags and calls
// it.
package report

import (
	"bytes"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Report is the result of a command.
type Report struct {
	Text     func(*Text)  // writes the text for people
	Document any          // a struct, or a pointer to one; see WriteJSON
	Brief    func(*Brief) // writes a page of Markdown; nil: there is none
}

// Text is the text of a report for people.
type Text struct {
	bytes.Buffer
	Color bool // mark text: it goes to a terminal that has colours
	Limit int  // maximum number of rows of a table; 0: none
}

func (b *Text) mark(code, text string) string {
	if !b.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red returns text in red: an error or a loss.
func (b *Text) Red(text string) string { return b.mark("1;31", text) }

// Yellow returns text in yellow: a warning.
func (b *Text) Yellow(text string) string { return b.mark("33", text) }

// Bold returns text in bold: a heading.
func (b *Text) Bold(text string) string { return b.mark("1", text) }

// Dim returns dimmed text: a detail.
func (b *Text) Dim(text string) string { return b.mark("2", text) }

// Health writes the range of an excerpt, the selected processes, the losses, and what a ring has
// overwritten, followed by an empty line.
func (b *Text) Health(t *trace.Trace) {
	before := b.Len()
	for _, line := range []string{b.Yellow(analysis.ExcerptLine(t)), analysis.KeptLine(t), b.Red(analysis.LossLine(t)), analysis.OverwrittenLine(t), analysis.CoolLine(t)} {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	if b.Len() > before {
		b.WriteByte('\n')
	}
}

// Shown returns the number of rows shown out of n.
func (b *Text) Shown(n int) int {
	if b.Limit == 0 {
		return n
	}
	return min(n, b.Limit)
}

// nameWidth bounds a column of names, in characters; JSON has full names.
const nameWidth = 48

// Name returns a name cut to nameWidth, safe to print.
func Name(text string) string {
	text = show.Name(text)
	if utf8.RuneCountInString(text) <= nameWidth {
		return text
	}
	return string([]rune(text)[:nameWidth-1]) + "…"
}

// First joins the texts of the first three elements; "…" stands for the others.
func First[T any](list []T, text func(T) string) string {
	const shown = 3
	line := ""
	for i, x := range list {
		if i > 0 {
			line += ", "
		}
		if i == shown {
			return line + "…"
		}
		line += text(x)
	}
	return line
}
