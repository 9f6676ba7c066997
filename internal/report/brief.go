package report

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// MostBrief is how many tokens a brief report has at most, as Tokens counts them.
const MostBrief = 1500

// Brief is a report as a page of Markdown, for people in a hurry and for language models. What does
// not fit is left out, and that is said. Names of a trace may say anything: they stand in code.
type Brief struct {
	Path  string // of the trace, or of what stands for it in a command
	State analysis.State
	Range []string // the flags that chose a part of it, such as --from=2s

	// Ask says how to ask for what a command shows where there is no command line; nil: there is
	// one. It returns "" where that can't be asked for.
	Ask func(command, path string, args ...string) string

	b    strings.Builder
	used int    // tokens of b
	tail string // how to see more: it always fits
	head string // a heading that has no line yet
	left int    // lines left out
}

// room is how many tokens the sentence takes that says how many lines are left out.
const room = 20

// More sets what the page ends with. It is called first, since it is kept whatever else is left out.
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

// Heading begins a section. Without a line in it, it is not written.
func (b *Brief) Heading(text string) { b.head = text }

// Line writes a line, if it fits, and reports whether it did.
func (b *Brief) Line(text string) bool { return b.Lines(text) }

// Item writes an item of a list: a label and what belongs to it. Without a text it writes nothing.
func (b *Brief) Item(label, text string) {
	if text != "" {
		b.Line("- " + label + ": " + text)
	}
}

// Lines writes all of some lines, or none where they do not fit together.
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

// Code is a text of the trace, as it is shown to people, in Markdown: in a span of code, which
// nothing in it can end, and cut if it is long.
func Code(text string) string { return Span(Cut(text, codeBytes)) }

// CodeName is Code of a name that is not yet safe to show.
func CodeName(name string) string { return Code(show.Name(name)) }

// Span is a text in a span of code, whole: who calls it has bounded it.
func Span(text string) string {
	if text == "" {
		return ""
	}
	fence, run := 1, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		fence = max(fence, run+1)
	}
	if fence > 1 {
		text = " " + text + " "
	}
	return strings.Repeat("`", fence) + text + strings.Repeat("`", fence)
}

// Cut is a text of n bytes at most.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(text[n]); n-- {
	}
	return text[:n] + "…"
}

// Cell is text in Markdown as a cell of a table has it: nothing in it ends the cell.
func Cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// tableRow is a row of a table.
func tableRow(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Rows writes a table, as far as there is room: the names of the columns, and a row of each.
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

// Rest says that n more are not shown.
func (b *Brief) Rest(n int, what string) {
	if n > 0 {
		b.Line("\n… and " + show.Plural(int64(n), "more "+what))
	}
}

// Fenced is a text of several lines as a block of code, which nothing in it can end.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// proseBytes bounds a sentence: what is longer is a list of what a trace made up.
const proseBytes = 600

var escaped = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "\n", " ", "\r", " ")

// Prose is a text of ours, in which something of a trace may be, in Markdown.
func Prose(text string) string { return escaped.Replace(Cut(show.Text(text), proseBytes)) }

// SourceLine is a place in the source, in code. Of a long path the end is shown.
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

// Command is a command of the tool about the trace, or the part of it that was looked at, to be
// copied, in code; "" if it would be too long, or has what no shell takes as it is.
func (b *Brief) Command(name string, args ...string) string {
	return b.CommandOn(b.Path, name, args...)
}

// CommandOn is a command about another trace.
func (b *Brief) CommandOn(path, name string, args ...string) string {
	args = append(args, b.Range...)
	if b.Ask != nil {
		return b.Ask(name, path, args...)
	}
	switch {
	case path == "-":
		return "" // it was read, and is gone
	case strings.HasPrefix(path, "-"):
		path = "./" + path
	}
	return shellCommand(append([]string{"scopeview", name, path}, args...)...)
}

// Does is what a list says of a command; "" if there is none.
func Does(command, what string) string {
	if command == "" {
		return ""
	}
	return command + ": " + what
}

// shellCommand is a command of these words, to be copied, in code; "" if there can be none.
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

// shellWord quotes a word for a shell. What is not plain to see is in no command.
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

// Glob is a name as --name takes it: ok is false if it would mean more than that.
func Glob(name string) (pattern string, ok bool) {
	return name, name != "" && name[0] != '-' && !strings.ContainsAny(name, "*?,") && len(name) <= codeBytes
}

// shownDamage is how many places are told where a trace is damaged.
const shownDamage = 3

// Run writes what the run was: what is damaged, and what was lost, first.
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
