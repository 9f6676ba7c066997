package report

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// MostBrief is the maximum number of tokens of a brief report, as Tokens counts them.
const MostBrief = 1500

// Brief is a report as a page of Markdown, for people in a hurry and for language models. It leaves
// out what does not fit, and counts it. Names from a trace may contain anything, so they are
// written as code.
type Brief struct {
	Path  string // of the trace, or of what stands for it in a command
	State analysis.State
	Range []string // the flags that selected a part of it, such as --from=2s

	// Ask returns how to request the output of a command where there is no command line, or "" if
	// that is impossible; nil: there is a command line.
	Ask func(command, path string, args ...string) string

	b    strings.Builder
	used int    // tokens of b
	tail string // hints at more output: they always fit
	head string // a heading that has no line yet
	left int    // lines left out
}

// room is the number of tokens of the sentence that counts the lines left out.
const room = 20

// More sets the last lines of the page. It must be called first, so that they are kept whatever
// else is left out.
func (b *Brief) More(lines ...string) {
	b.tail = ""
	for _, l := range lines {
		if l = "- " + l + "\n"; len(l) > 3 && Tokens(b.tail)+Tokens(l) < MostBrief/4 {
			b.tail += l
		}
	}
	if b.tail != "" {
		b.tail = "\n## More\n\n" + b.tail
	}
}

// Heading begins a section. A section without lines is not written.
func (b *Brief) Heading(text string) { b.head = text }

// Line writes a line if it fits, and reports whether it did.
func (b *Brief) Line(text string) bool { return b.Lines(text) }

// Item writes an item of a list: a label and its text. It writes nothing if the text is empty.
func (b *Brief) Item(label, text string) {
	if text != "" {
		b.Line("- " + label + ": " + text)
	}
}

// Lines writes all of the lines, or none if they do not fit together.
func (b *Brief) Lines(lines ...string) bool {
	text := ""
	if b.head != "" {
		if b.b.Len() > 0 {
			text = "\n"
		}
		text += b.head + "\n\n"
	}
	text += strings.Join(lines, "\n") + "\n"
	tokens := Tokens(text)
	if b.used+tokens+Tokens(b.tail)+room > MostBrief {
		b.left += len(lines)
		return false
	}
	b.head = ""
	b.used += tokens
	b.b.WriteString(text)
	return true
}

// String returns the page.
func (b *Brief) String() string {
	text := b.b.String()
	if b.left > 0 {
		text += "\n" + show.Plural(int64(b.left), "line") + " left out to stay brief.\n"
	}
	return text + b.tail
}

// codeBytes bounds a name in a page.
const codeBytes = 120

// Code formats text from a trace for Markdown: as a code span, which nothing in it can end, cut if
// it is long.
func Code(text string) string { return Span(Cut(text, codeBytes)) }

// CodeName is like Code, for a name that is not yet safe to print.
func CodeName(name string) string { return Code(show.Name(name)) }

// Span formats text as a code span without cutting it: the caller bounds it.
func Span(text string) string {
	if text == "" {
		return ""
	}
	fence, ticks := 1, 0
	for i := range len(text) {
		if ticks++; text[i] != '`' {
			ticks = 0
		}
		fence = max(fence, ticks+1)
	}
	if fence > 1 {
		text = " " + text + " "
	}
	return strings.Repeat("`", fence) + text + strings.Repeat("`", fence)
}

// Cut returns text cut to at most n bytes.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(text[n]); n-- {
	}
	return text[:n] + "…"
}

// Cell escapes Markdown text for a cell of a table: nothing in it ends the cell.
func Cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// tableRow is a row of a table.
func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Rows writes a table with the heads and as many of the rows as fit.
func (b *Brief) Rows(heads []string, rows [][]string) {
	for i, cells := range rows {
		line := tableRow(cells...)
		if i > 0 {
			b.Line(line)
			continue
		}
		b.Lines(tableRow(heads...), "|"+strings.Repeat("---|", len(heads)), line)
	}
}

// Rest writes that n more are not shown.
func (b *Brief) Rest(n int, what string) {
	if n > 0 {
		b.Line("\n… and " + show.Plural(int64(n), "more "+what))
	}
}

// Fenced formats text of several lines as a block of code, which nothing in it can end.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// proseBytes bounds a sentence: a longer one is a list of names from a trace.
const proseBytes = 600

var escaped = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "\n", " ", "\r", " ")

// Prose formats a sentence of the tool, which may contain names from a trace, for Markdown.
func Prose(text string) string { return escaped.Replace(Cut(show.Text(text), proseBytes)) }

// SourceLine formats a source position as code. It shows the end of a long path.
func SourceLine(file string, line int) string {
	if file == "" || line <= 0 {
		return "unknown"
	}
	text := show.Name(file)
	if over := len(text) - codeBytes; over > 0 {
		for over < len(text) && !utf8.RuneStart(text[over]) {
			over++
		}
		text = "…" + text[over:]
	}
	return Span(text + ":" + strconv.Itoa(line))
}

// commandBytes bounds a command that is printed.
const commandBytes = 300

// Command returns a command of the tool about the trace, or the selected part of it, as code to be
// copied; "" if it would be too long, or contains what no shell takes literally.
func (b *Brief) Command(name string, args ...string) string {
	return b.CommandOn(b.Path, name, args...)
}

// CommandOn returns a command about another trace.
func (b *Brief) CommandOn(path, name string, args ...string) string {
	args = append(args, b.Range...)
	if b.Ask != nil {
		return b.Ask(name, path, args...)
	}
	switch {
	case path == "-":
		return "" // the trace was read from standard input, and is gone
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return shellCommand(append([]string{"scopeview", name, path}, args...)...)
}

// Does returns a command with its description; "" if there is no command.
func Does(command, what string) string {
	if command == "" {
		return ""
	}
	return command + ": " + what
}

// shellCommand returns a command of these words as code to be copied; "" if one of them can't be
// quoted.
func shellCommand(words ...string) string {
	var quoted []string
	for _, w := range words {
		q, ok := shellWord(w)
		if !ok {
			return ""
		}
		quoted = append(quoted, q)
	}
	text := strings.Join(quoted, " ")
	if len(text) > commandBytes {
		return ""
	}
	return Span(text)
}

// shellWord quotes a word for a shell. ok is false for a word with characters that are not plainly
// visible.
func shellWord(w string) (string, bool) {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%"
	switch {
	case w == "" || show.Name(w) != w || strings.Contains(w, "`"):
		return "", false
	case strings.Trim(w, plain) == "" && strings.IndexFunc(w, func(r rune) bool { return !strings.ContainsRune(plain, r) }) < 0:
		return w, true
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'", true
}

// Glob returns a name as a pattern for --name; ok is false if it would match more than that name.
func Glob(name string) (pattern string, ok bool) {
	return name, name != "" && name[0] != '-' && !strings.ContainsAny(name, "*?,") && len(name) <= codeBytes
}

// shownDamage is the number of damaged places that are listed.
const shownDamage = 3

// Run writes the facts of the run, damage and losses first.
func (b *Brief) Run(t *trace.Trace) {
	b.Heading("## Run")
	for i, p := range analysis.Damage(t.Problems()) {
		if i == shownDamage {
			b.Item("damage", "… and more places "+b.Command("verify"))
			break
		}
		b.Item("damage", Prose(analysis.ProblemText(&p)))
	}
	list := (&analysis.Report{Trace: t, Path: b.Path, State: b.State}).Run()
	for _, first := range []bool{true, false} {
		for _, f := range list {
			if (f.Label == "losses") != first {
				continue
			}
			label, text := f.Label, Code(f.Text)
			switch f.Label {
			case "losses", "state", "recorded":
				text = Prose(f.Text)
			case "":
				label, text = "also", Prose(f.Text)
			}
			b.Item(label, text)
		}
	}
}
