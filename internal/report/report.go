// Package report has what the reports of the tool have in common: tables and marks for
// people, and JSON documents for programs. Each report is a package below with a function
// Of: it finds out, and returns the text and the document. A command of cmd/scopeview is
// flags and that call.
package report

import (
	"bytes"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Report is what a command has found out.
type Report struct {
	Text     func(*Text)  // writes it for people
	Document any          // a struct, or a pointer to one; see WriteJSON
	Brief    func(*Brief) // writes it as a page of Markdown; nil: there is none
}

// Text is a report for people, as far as it is written.
type Text struct {
	bytes.Buffer
	Color bool // mark text: it goes to a terminal that has colours
	Limit int  // of the rows of a table; 0: none
}

func (b *Text) mark(code, text string) string {
	if !b.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Red returns text that is red: something is wrong.
func (b *Text) Red(text string) string { return b.mark("1;31", text) }

// Yellow returns text that is yellow: something is odd.
func (b *Text) Yellow(text string) string { return b.mark("33", text) }

// Bold returns text that is bold: it is a heading.
func (b *Text) Bold(text string) string { return b.mark("1", text) }

// Dim returns text that is dim: it can be read over.
func (b *Text) Dim(text string) string { return b.mark("2", text) }

// Health writes which processes are shown, what was lost, and what a ring has overwritten, with
// an empty line behind it.
func (b *Text) Health(t *trace.Trace) {
	before := b.Len()
	for _, line := range []string{analysis.KeptLine(t), b.Red(analysis.LossLine(t)), analysis.OverwrittenLine(t), analysis.CoolLine(t)} {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
	if b.Len() > before {
		b.WriteByte('\n')
	}
}

// Shown returns how many of n rows are shown.
func (b *Text) Shown(n int) int {
	if b.Limit == 0 {
		return n
	}
	return min(n, b.Limit)
}

// nameWidth bounds a column of names; JSON has them whole.
const nameWidth = 48

// Name returns a name as a table has room for it, safe to show.
func Name(text string) string {
	text = show.Name(text)
	if utf8.RuneCountInString(text) <= nameWidth {
		return text
	}
	return string([]rune(text)[:nameWidth-1]) + "…"
}

// First joins what text returns of the first three; "…" stands for the others.
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
