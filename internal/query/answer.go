package query

import (
	"errors"
	"slices"
	"strings"

	"modernc.org/sqlite"
	"modernc.org/sqlite/vtab"
)

// answerName is the table into which a question is answered.
const answerName = "scopeview_answer"

// answerDeclaration declares a table of n columns.
func answerDeclaration(n int) string {
	columns := make([]string, n)
	for i := range columns {
		columns[i] = "c" + strings.Repeat("0", i)
	}
	return "CREATE TABLE x(" + strings.Join(columns, ", ") + ")"
}

// answer is the table into which a question is answered.
type answer struct{ q *Question }

// errEnough ends an answer of which no more rows are wanted.
var errEnough = errors.New("no more rows are wanted")

// Insert hands on a row.
func (a *answer) Insert(row []vtab.Value, _ *int64) error {
	for i, v := range row {
		switch v := v.(type) { // SQLite uses the memory again
		case string:
			row[i] = strings.Clone(v)
		case []byte:
			row[i] = slices.Clone(v)
		}
	}
	values := make([]any, len(row))
	for i, v := range row {
		values[i] = v
	}
	if a.q.each(values) {
		return nil
	}
	a.q.enough = true
	return errEnough
}

// Update implements vtab.Updater.
func (a *answer) Update(int64, []vtab.Value, *int64) error { return errors.ErrUnsupported }

// Delete implements vtab.Updater.
func (a *answer) Delete(int64) error { return errors.ErrUnsupported }

// BestIndex implements vtab.Table.
func (a *answer) BestIndex(*vtab.IndexInfo) error { return nil }

// Open implements vtab.Table.
func (a *answer) Open() (vtab.Cursor, error) { return nil, errors.ErrUnsupported }

// Disconnect implements vtab.Table.
func (a *answer) Disconnect() error { return nil }

// Destroy implements vtab.Table.
func (a *answer) Destroy() error { return nil }

// policy selects the statements that are allowed.
type policy uint8

const (
	policyAny    policy = iota // the statements of this package
	policyRead                 // the question by itself
	policyAnswer               // the question with its answer
)

// authorize is called for each thing that a statement would do.
func (q *Question) authorize(action sqlite.AuthorizerActionCode, name, function, _, _ string) sqlite.AuthorizerReturnCode {
	if q.policy == policyAny {
		return sqlite.AuthorizerOK
	}
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthRead:
		if name != answerName {
			return sqlite.AuthorizerOK
		}
	case sqlite.AuthFunction:
		return functionAllowed(function)
	case sqlite.AuthInsert:
		if q.policy == policyAnswer && name == answerName {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// functionAllowed refuses the functions that load code, or show addresses of memory.
func functionAllowed(name string) sqlite.AuthorizerReturnCode {
	switch strings.ToLower(name) {
	case "load_extension", "fts3_tokenizer":
		return sqlite.AuthorizerDeny
	}
	return sqlite.AuthorizerOK
}
