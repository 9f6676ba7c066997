package scopesql_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
)

// fake is a driver that logs its calls. Wrappers determine the optional interfaces of its
// connections and statements.
type fake struct {
	log  []string
	conn func(*fakeConn) driver.Conn
	stmt func(*fakeStmt) driver.Stmt
}

func (f *fake) add(format string, args ...any) { f.log = append(f.log, fmt.Sprintf(format, args...)) }

func (f *fake) Open(name string) (driver.Conn, error) {
	f.add("open %s", name)
	return f.conn(&fakeConn{f}), nil
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return f.Open("by a connector") }
func (f *fake) Driver() driver.Driver                        { return f }
func (f *fake) Close() error                                 { f.add("close connector"); return nil }

// fakeContext is a driver with connectors.
type fakeContext struct{ *fake }

func (f fakeContext) OpenConnector(name string) (driver.Connector, error) {
	if name == "bad" {
		return nil, errors.New("no such database")
	}
	return f.fake, nil
}

type fakeConn struct{ *fake }

func (c *fakeConn) Close() error              { c.add("close"); return nil }
func (c *fakeConn) Begin() (driver.Tx, error) { c.add("begin"); return fakeTx{c.fake}, nil }
func (c *fakeConn) Prepare(q string) (driver.Stmt, error) {
	c.add("prepare %s", q)
	return c.stmt(&fakeStmt{c.fake}), nil
}

type fakeTx struct{ *fake }

func (t fakeTx) Commit() error   { t.add("commit"); return nil }
func (t fakeTx) Rollback() error { t.add("rollback"); return errors.New("no transaction") }

type fakeStmt struct{ *fake }

func (s *fakeStmt) Close() error  { s.add("close stmt"); return nil }
func (s *fakeStmt) NumInput() int { return 1 }
func (s *fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.add("stmt exec %v", args)
	return driver.RowsAffected(3), nil
}
func (s *fakeStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.add("stmt query %v", args)
	return &fakeRows{n: 2}, nil
}

type fakeRows struct{ n int64 }

func (r *fakeRows) Columns() []string { return []string{"n"} }
func (r *fakeRows) Close() error      { return nil }
func (r *fakeRows) Next(v []driver.Value) error {
	if r.n--; r.n < 0 {
		return io.EOF
	}
	v[0] = r.n
	return nil
}

// The optional interfaces of a connection, each of which a test's connection may have.
type (
	withContexts  struct{ *fakeConn }
	withExec      struct{ *fakeConn }
	withQuery     struct{ *fakeConn }
	withOldExec   struct{ *fakeConn }
	withOldQuery  struct{ *fakeConn }
	withSession   struct{ *fakeConn }
	withConnCheck struct{ *fakeConn }
	withSkip      struct{ *fakeConn }
)

func (c withContexts) PrepareContext(_ context.Context, q string) (driver.Stmt, error) {
	c.add("prepare context")
	return c.Prepare(q)
}
func (c withContexts) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.add("begin tx %v", o)
	return c.Begin()
}
func (c withExec) ExecContext(_ context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	c.add("exec %s %v", q, args)
	if q == "fail" {
		return nil, errors.New("secret")
	}
	return driver.RowsAffected(2), nil
}
func (c withQuery) QueryContext(_ context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	c.add("query %s %v", q, args)
	return &fakeRows{n: 1}, nil
}
func (c withOldExec) Exec(q string, args []driver.Value) (driver.Result, error) {
	c.add("old exec %s %v", q, args)
	return driver.ResultNoRows, nil
}
func (c withOldQuery) Query(q string, args []driver.Value) (driver.Rows, error) {
	c.add("old query %s %v", q, args)
	return &fakeRows{n: 1}, nil
}
func (c withSession) Ping(context.Context) error         { c.add("ping"); return nil }
func (c withSession) ResetSession(context.Context) error { c.add("reset"); return nil }
func (c withSession) IsValid() bool                      { c.add("valid?"); return true }
func (c withConnCheck) CheckNamedValue(v *driver.NamedValue) error {
	v.Value = fmt.Sprintf("conn's %v", v.Value)
	return nil
}
func (c withSkip) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return nil, driver.ErrSkip
}
func (c withSkip) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return nil, driver.ErrSkip
}

// The optional interfaces of a statement.
type (
	withStmtContexts struct{ *fakeStmt }
	withStmtCheck    struct{ *fakeStmt }
	withColumns      struct{ *fakeStmt }
)

func (s withStmtContexts) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.add("stmt exec context %v", args)
	return driver.RowsAffected(4), nil
}
func (s withStmtContexts) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.add("stmt query context %v", args)
	return &fakeRows{n: 1}, nil
}
func (s withStmtCheck) CheckNamedValue(v *driver.NamedValue) error {
	if v.Value == "skip" {
		return driver.ErrSkip
	}
	v.Value = fmt.Sprintf("stmt's %v", v.Value)
	return nil
}
func (s withColumns) ColumnConverter(int) driver.ValueConverter { return column{} }

// column converts arguments that database/sql can't.
type column struct{}

func (column) ConvertValue(v any) (driver.Value, error) { return fmt.Sprintf("column's %v", v), nil }

// conns and stmts are the tested variants, in all combinations.
var conns = map[string]func(*fakeConn) driver.Conn{
	"plain":    func(c *fakeConn) driver.Conn { return c },
	"contexts": func(c *fakeConn) driver.Conn { return withContexts{c} },
	"exec":     func(c *fakeConn) driver.Conn { return withExec{c} },
	"query":    func(c *fakeConn) driver.Conn { return withQuery{c} },
	"session":  func(c *fakeConn) driver.Conn { return withSession{c} },
	"check":    func(c *fakeConn) driver.Conn { return withConnCheck{c} },
	"skip":     func(c *fakeConn) driver.Conn { return withSkip{c} },
	"old": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			driver.Execer
			driver.Queryer
		}{c, withOldExec{c}, withOldQuery{c}}
	},
	"all": func(c *fakeConn) driver.Conn {
		return struct {
			*fakeConn
			driver.ConnPrepareContext
			driver.ConnBeginTx
			driver.ExecerContext
			driver.QueryerContext
			driver.Pinger
			driver.SessionResetter
			driver.Validator
			driver.NamedValueChecker
		}{c, withContexts{c}, withContexts{c}, withExec{c}, withQuery{c}, withSession{c}, withSession{c}, withSession{c}, withConnCheck{c}}
	},
}

var stmts = map[string]func(*fakeStmt) driver.Stmt{
	"plain":    func(s *fakeStmt) driver.Stmt { return s },
	"contexts": func(s *fakeStmt) driver.Stmt { return withStmtContexts{s} },
	"check":    func(s *fakeStmt) driver.Stmt { return withStmtCheck{s} },
	"columns":  func(s *fakeStmt) driver.Stmt { return withColumns{s} },
	"all": func(s *fakeStmt) driver.Stmt {
		return struct {
			*fakeStmt
			driver.StmtExecContext
			driver.StmtQueryContext
			driver.NamedValueChecker
			withColumns
		}{s, withStmtContexts{s}, withStmtContexts{s}, withStmtCheck{s}, withColumns{s}}
	},
}

// keys returns the keys in order.
func keys[V any](m map[string]V) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
