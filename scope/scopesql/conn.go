package scopesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/scopeview/scopeview/scope"
)

// conn is a connection whose calls are recorded. For optional interfaces that the driver
// lacks, conn answers such that database/sql behaves as without them. That is not possible
// for ExecerContext and QueryerContext, for which database/sql looks at the arguments
// first, so separate types have these.
type conn struct{ c driver.Conn }

type (
	execConn      struct{ *conn }
	queryConn     struct{ *conn }
	execQueryConn struct {
		*conn
		execConn
		queryConn
	}
)

func wrapConn(c driver.Conn) driver.Conn {
	w := &conn{c}
	_, exec := c.(driver.ExecerContext)
	if !exec {
		_, exec = c.(driver.Execer)
	}
	_, query := c.(driver.QueryerContext)
	if !query {
		_, query = c.(driver.Queryer)
	}
	switch {
	case exec && query:
		return execQueryConn{w, execConn{w}, queryConn{w}}
	case exec:
		return execConn{w}
	case query:
		return queryConn{w}
	}
	return w
}

func (c *conn) unwrap() driver.Conn { return c.c }
func (c *conn) Close() error        { return c.c.Close() }

// Begin and Prepare are required by driver.Conn. database/sql calls BeginTx and
// PrepareContext.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) Ping(ctx context.Context) error {
	p, ok := c.c.(driver.Pinger)
	if !ok {
		return nil
	}
	ctx, span := scope.Context(ctx, "sql.ping")
	err := p.Ping(ctx)
	end(span, err)
	return err
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.c.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	v, ok := c.c.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.c.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	ctx, span := scope.Context(ctx, "sql.prepare", scope.KV("statement", query))
	s, err := prepare(ctx, c.c, query)
	end(span, err)
	if err != nil {
		return nil, err
	}
	return wrapStmt(c, s, query), nil
}

func prepare(ctx context.Context, c driver.Conn, query string) (driver.Stmt, error) {
	if p, ok := c.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	s, err := c.Prepare(query)
	if err == nil && ctx.Err() != nil {
		s.Close()
		return nil, ctx.Err()
	}
	return s, err
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	inner, span := scope.Context(ctx, "sql.begin")
	t, err := beginTx(inner, c.c, o)
	end(span, err)
	if err != nil {
		return nil, err
	}
	return &tx{t, ctx}, nil
}

func beginTx(ctx context.Context, c driver.Conn, o driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, o)
	}
	switch {
	case sql.IsolationLevel(o.Isolation) != sql.LevelDefault:
		return nil, errors.New("sql: driver does not support non-default isolation level")
	case o.ReadOnly:
		return nil, errors.New("sql: driver does not support read-only transactions")
	}
	t, err := c.Begin()
	if err == nil && ctx.Err() != nil {
		t.Rollback()
		return nil, ctx.Err()
	}
	return t, err
}

// tx is a transaction. Commit and Rollback take no context, so it keeps that of its begin.
type tx struct {
	t   driver.Tx
	ctx context.Context
}

func (t *tx) Commit() error {
	_, span := scope.Context(t.ctx, "sql.commit")
	err := t.t.Commit()
	end(span, err)
	return err
}

func (t *tx) Rollback() error {
	_, span := scope.Context(t.ctx, "sql.rollback")
	err := t.t.Rollback()
	end(span, err)
	return err
}

func (c execConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx, span := scope.Context(ctx, "sql.exec", scope.KV("statement", query))
	r, err := exec(ctx, c.c, query, args)
	endExec(span, r, err)
	return r, err
}

func exec(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	return c.(driver.Execer).Exec(query, values)
}

func (c queryConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, span := scope.Context(ctx, "sql.query", scope.KV("statement", query))
	r, err := runQuery(ctx, c.c, query, args)
	end(span, err)
	return r, err
}

func runQuery(ctx context.Context, c driver.Conn, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	return c.(driver.Queryer).Query(query, values)
}

// positional converts arguments for drivers without contexts, as database/sql does.
func positional(ctx context.Context, args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("sql: driver does not support the use of Named Parameters")
		}
		values[i] = a.Value
	}
	return values, ctx.Err()
}
