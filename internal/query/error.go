package query

import (
	"errors"
	"regexp"
	"strings"

	"modernc.org/sqlite"
	"modernc.org/sqlite/lib"
)

// Error is an error about a question.
type Error struct {
	Text string // SQLite's sentence
	Hint string // what there is; "" if that does not help
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + "; " + e.Hint
}

// around matches the driver's text before and after SQLite's sentence.
var around = regexp.MustCompile(`^SQL logic error: |^interrupted: | \(\d+\)$`)

// sentence returns an error of the engine as an *Error; the context's stays.
func (q *Question) sentence(err error) error {
	if err == nil {
		return nil
	}
	if ctxErr := q.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	var of *sqlite.Error
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	if !errors.As(err, &of) {
		if strings.HasPrefix(err.Error(), "missing ") { // the driver's: argument with index 1, named argument "x"
			return &Error{Text: "a question has no parameters: write their values into it"}
		}
		return err
	}
	e := &Error{Text: around.ReplaceAllString(of.Error(), "")}
	switch code := of.Code() & 0xff; {
	case code == sqlite3.SQLITE_NOMEM:
		e.Text = "the question needs more memory than a question may use: let it return or sort fewer rows"
	case code == sqlite3.SQLITE_TOOBIG:
		e.Text = "a value of the question is too large"
	case code == sqlite3.SQLITE_AUTH, strings.HasPrefix(e.Text, "not authorized"):
		e.Text = "a question only reads the tables of the trace: " + e.Text
	case code == sqlite3.SQLITE_ERROR:
		e.Hint = q.hint(e.Text)
	}
	return e
}

// hint lists what a wrong name may have meant.
func (q *Question) hint(text string) string {
	if strings.Contains(text, "no such column") {
		var list []string
		for i := range tables {
			if regexp.MustCompile(`(?i)\b` + tables[i].Name + `\b`).MatchString(q.text) {
				list = append(list, tables[i].Name+"("+tables[i].names()+")")
			}
		}
		if list != nil {
			return "there is " + strings.Join(list, ", ")
		}
	}
	var list []string
	for i := range tables {
		list = append(list, tables[i].Name)
	}
	return "the tables are " + strings.Join(list, ", ")
}

// names lists the columns.
func (t *Table) names() string {
	var list []string
	for _, c := range t.Columns {
		list = append(list, c.Name)
	}
	return strings.Join(list, ", ")
}
