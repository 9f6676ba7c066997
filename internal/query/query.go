package query

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/trace"
)

// DB has the tables of a trace. It answers one question at a time.
type DB struct {
	t      *trace.Trace
	sel    *analysis.Selection
	db     *sql.DB
	conn   *sql.Conn
	asked  context.Context // of the present question
	damage error           // of reading the trace
}

// Answer is the answer to a question.
type Answer struct {
	Columns []string
	Rows    [][]any // nil, int64, float64, string or []byte
	More    bool    // there are more rows
	Damage  error   // what of the trace could not be read; nil: nothing
}

// Open makes the tables of the selected part of t. Nothing is read before the first question.
func Open(t *trace.Trace, sel *analysis.Selection) (*DB, error) {
	d := &DB{t: t, sel: sel, asked: context.Background()}
	own := new(sqlite.Driver)
	for _, s := range sources {
		if err := own.RegisterModule(s.Name, &module{d, s}); err != nil {
			return nil, fmt.Errorf("making the table %s: %w", s.Name, err)
		}
	}
	d.db = sql.OpenDB(connector{own})
	var err error
	if d.conn, err = d.db.Conn(d.asked); err == nil {
		err = prepare(d.conn)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making the tables of the trace: %w", err), d.Close())
	}
	return d, nil
}

// connector opens databases in memory with a driver of its own.
type connector struct{ own *sqlite.Driver }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.own.Open(":memory:") }
func (c connector) Driver() driver.Driver                        { return c.own }

// prepare makes the tables and views, and forbids all but reading them from then on.
func prepare(c *sql.Conn) error {
	var statements []string
	for _, s := range sources {
		statements = append(statements, fmt.Sprintf("CREATE VIRTUAL TABLE %s USING %s", s.Name, s.Name))
	}
	for _, v := range views {
		statements = append(statements, fmt.Sprintf("CREATE VIEW %s AS %s", v.Name, v.sql))
	}
	for _, x := range statements {
		if _, err := c.ExecContext(context.Background(), x); err != nil {
			return fmt.Errorf("%s: %w", x, err)
		}
	}
	if _, err := sqlite.Limit(c, limitLength, mostBytes); err != nil {
		return err
	}
	return c.Raw(func(c any) error {
		a, ok := c.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errors.New("the engine can't be restricted to reading")
		}
		return a.RegisterAuthorizer(authorize)
	})
}

// limitLength is SQLITE_LIMIT_LENGTH, and mostBytes the size of the longest text that a question may make.
const (
	limitLength = 0
	mostBytes   = 16 << 20
)

// authorize allows a question to read.
func authorize(action sqlite.AuthorizerActionCode, _, function, _, _ string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRead, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if !strings.EqualFold(function, "load_extension") {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// Close frees the database. It does not close the trace.
func (d *DB) Close() error {
	if d.conn != nil {
		d.conn.Close()
	}
	return d.db.Close()
}

// Ask returns the answer to a question, with at most so many rows; 0: all. It stops with ctx's error once ctx is
// done. Any other error is SQLite's sentence about the question.
func (d *DB) Ask(ctx context.Context, question string, most int) (*Answer, error) {
	d.asked, d.damage = ctx, nil
	rows, err := d.conn.QueryContext(ctx, question)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), sentence(err))
	}
	defer rows.Close()
	a := &Answer{}
	if a.Columns, err = rows.Columns(); err != nil {
		return nil, sentence(err)
	}
	for rows.Next() {
		if most > 0 && len(a.Rows) == most {
			a.More = true
			break
		}
		row := make([]any, len(a.Columns))
		to := make([]any, len(row))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, sentence(err)
		}
		a.Rows = append(a.Rows, row)
	}
	if !a.More {
		if err := cmp.Or(ctx.Err(), sentence(rows.Err())); err != nil {
			return nil, err
		}
	}
	a.Damage = d.damage
	return a, nil
}

// sentence returns SQLite's words without its prefix and number.
func sentence(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	text := strings.TrimPrefix(e.Error(), "SQL logic error: ")
	if i := strings.LastIndex(text, " ("); i > 0 && strings.HasSuffix(text, ")") {
		text = text[:i]
	}
	if text == "not authorized" {
		text = "a question can only read: SELECT, or WITH … SELECT"
	}
	return errors.New(text)
}
