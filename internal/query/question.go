package query

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"modernc.org/sqlite"
	"modernc.org/sqlite/lib"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Limits of a question, against those that would take the machine.
const (
	textMost   = 64 << 10  // bytes of a question
	valueMost  = 1 << 20   // bytes of a value: comparing two can't be interrupted
	memoryMost = 512 << 20 // bytes of SQLite's memory, of all questions of the process together
	columnMost = 500
)

// Question is a question about a trace.
type Question struct {
	Columns []string // names of the answer's columns

	number   int
	ctx      context.Context
	t        *trace.Trace
	sel      *analysis.Selection
	tables   []Table
	text     string
	explains bool
	db       *sql.DB
	conn     *sql.Conn
	policy   policy
	names    *nameValues
	each     func([]any) bool
	enough   bool // each has returned false

	failure error // of reading the trace
	notes   []string
	last    map[uint64]string // last name of each goroutine's row
}

// New prepares a question about the selected part of a trace. It is answered until ctx is done. The
// caller must call Close. An error about the question is an *Error.
func New(ctx context.Context, t *trace.Trace, sel *analysis.Selection, text string) (q *Question, err error) {
	if len(text) > textMost {
		return nil, &Error{Text: fmt.Sprintf("the question has %d bytes, and may have %d", len(text), textMost)}
	}
	q = &Question{ctx: ctx, t: t, sel: sel, names: &nameValues{of: t.Name}, tables: Tables()}
	if q.text, q.explains, err = statementOf(text); err != nil {
		return nil, &Error{Text: err.Error()}
	}
	register(q)
	if err = q.open(); err == nil {
		err = q.prepare()
	}
	if err != nil {
		q.Close()
		return nil, q.sentence(err)
	}
	return q, nil
}

// connector opens the database of a question.
type connector struct{ d *sqlite.Driver }

func (c connector) Connect(context.Context) (sqldriver.Conn, error) { return c.d.Open(":memory:") }
func (c connector) Driver() sqldriver.Driver                        { return c.d }

// open makes the database with the tables.
func (q *Question) open() error {
	d, err := driver()
	if err != nil {
		return err
	}
	q.db = sql.OpenDB(connector{d})
	if q.conn, err = q.db.Conn(q.ctx); err != nil {
		return err
	}
	for id, most := range map[int]int{
		sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: valueMost, sqlite3.SQLITE_LIMIT_COLUMN: columnMost,
		sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2 * textMost, sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000, sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1, sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
	} {
		if _, err := sqlite.Limit(q.conn, id, most); err != nil {
			return err
		}
	}
	setup := []string{"PRAGMA temp_store=MEMORY", "PRAGMA cache_size=-8192", "PRAGMA trusted_schema=OFF", fmt.Sprintf("PRAGMA hard_heap_limit=%d", memoryMost)}
	for i := range tables {
		setup = append(setup, q.creation(tables[i].Name))
	}
	for _, s := range setup {
		if _, err := q.conn.ExecContext(q.ctx, s); err != nil {
			return fmt.Errorf("preparing the database: %s: %w", s, err)
		}
	}
	return q.raw(func(c rawConn) error { return c.RegisterAuthorizer(q.authorize) })
}

// creation is the statement that makes a table.
func (q *Question) creation(name string) string {
	return fmt.Sprintf("CREATE VIRTUAL TABLE %s USING %s(%d, %s)", name, moduleName, q.number, name)
}

// rawConn has the methods of a connection that database/sql hides.
type rawConn interface {
	sqlite.AuthorizerRegisterer
	ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
}

func (q *Question) raw(f func(rawConn) error) error {
	return q.conn.Raw(func(c any) error {
		raw, ok := c.(rawConn)
		if !ok {
			return errors.New("this version of the driver has no authorizer")
		}
		return f(raw)
	})
}

// prepare checks the question by itself, and makes the table of its answer.
func (q *Question) prepare() error {
	q.policy = policyRead
	err := q.raw(func(c rawConn) error {
		list, err := c.ColumnInfo(q.text)
		for _, i := range list {
			q.Columns = append(q.Columns, i.Name)
		}
		return err
	})
	if err != nil || q.explains {
		return err
	}
	q.policy = policyAny
	if _, err = q.conn.ExecContext(q.ctx, q.creation(answerName)); err != nil {
		return fmt.Errorf("preparing the answer: %w", err)
	}
	q.policy = policyAnswer
	return nil
}

// Each answers the question: it calls f with each row, until f returns false. Values are nil,
// int64, float64, string and []byte; the slice is valid until f returns. Problem has the errors of
// reading the trace, which end a table and not the answer. It can be called once.
func (q *Question) Each(f func(row []any) bool) error {
	if q.explains {
		return q.sentence(q.explain(f))
	}
	q.each = f
	_, err := q.conn.ExecContext(q.ctx, "INSERT INTO "+answerName+" "+q.text)
	if q.enough {
		err = nil
	}
	return q.sentence(err)
}

// explain calls f with the rows of a plan.
func (q *Question) explain(f func(row []any) bool) error {
	rows, err := q.conn.QueryContext(q.ctx, q.text)
	if err != nil {
		return err
	}
	defer rows.Close()
	row, at := make([]any, len(q.Columns)), make([]any, len(q.Columns))
	for i := range row {
		at[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return err
		}
		if !f(row) {
			return nil
		}
	}
	return rows.Err()
}

// Close ends the question.
func (q *Question) Close() {
	unregister(q)
	if q.conn != nil {
		q.conn.Close()
	}
	if q.db != nil {
		q.db.Close()
	}
}

// Problem returns the error of reading the trace, after Each; nil: all of it was read.
func (q *Question) Problem() error { return q.failure }

// Notes returns sentences about tables of the question that have no rows.
func (q *Question) Notes() []string { return q.notes }

// failed keeps an error of reading the trace, unless the question was given up.
func (q *Question) failed(err error) {
	if err == nil || q.ctx.Err() != nil {
		return
	}
	if q.failure == nil || q.failure.Error() != err.Error() {
		q.failure = errors.Join(q.failure, err)
	}
}

func (q *Question) note(s string) {
	if !slices.Contains(q.notes, s) {
		q.notes = append(q.notes, s)
	}
}

// rows estimates the number of rows of a table, for SQLite's plan.
func (q *Question) rows(t *table) int64 {
	records := q.t.Size()/format.RecordSize + 1
	switch {
	case t.fields != nil && t.Name != "records" && t.Name != "scopes":
		return records/4 + 1
	case t.time < 0:
		return 100
	case t.Name == "heartbeats":
		return records/100 + 1
	}
	return records
}

// tracks returns the last name of each goroutine's row.
func (q *Question) tracks() (map[uint64]string, error) {
	if q.last != nil {
		return q.last, nil
	}
	names, ids := map[uint64]string{}, map[uint64]uint16{}
	var watch analysis.Watch
	err := q.t.Events(trace.Options{AsRecorded: true, Detail: trace.Tracks}, func(e *trace.Event) bool {
		if e.Goid != 0 && e.Track != format.NameEmpty && ids[e.Goid] != e.Track {
			ids[e.Goid], names[e.Goid] = e.Track, q.t.Name(e.Track)
		}
		return watch.Look(q.ctx, e.Start) == nil
	})
	q.last = names
	return names, err
}
