package scopesql

import (
	"context"
	"database/sql/driver"

	"github.com/scopeview/scopeview/scope"
)

// stmt is a prepared statement whose calls are recorded.
type stmt struct {
	s     driver.Stmt
	c     *conn
	query string
}

// convertingStmt is a statement of a driver that converts arguments by column. It is a
// type of its own because the method ColumnConverter changes what database/sql does with
// the arguments.
type convertingStmt struct {
	*stmt
	cc driver.ColumnConverter
}

func (s convertingStmt) ColumnConverter(i int) driver.ValueConverter { return s.cc.ColumnConverter(i) }

func wrapStmt(c *conn, s driver.Stmt, query string) driver.Stmt {
	w := &stmt{s, c, query}
	if cc, ok := s.(driver.ColumnConverter); ok {
		return convertingStmt{w, cc}
	}
	return w
}

func (s *stmt) Close() error  { return s.s.Close() }
func (s *stmt) NumInput() int { return s.s.NumInput() }

// CheckNamedValue falls back to the connection's, as database/sql does.
func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.s.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.c.CheckNamedValue(v)
}

// Exec and Query are required by driver.Stmt. database/sql calls ExecContext and
// QueryContext.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), numbered(args))
}
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), numbered(args))
}

func numbered(values []driver.Value) []driver.NamedValue {
	args := make([]driver.NamedValue, len(values))
	for i, v := range values {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return args
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	ctx, span := scope.Context(ctx, "sql.exec", scope.KV("statement", s.query))
	r, err := execStmt(ctx, s.s, args)
	endExec(span, r, err)
	return r, err
}

func execStmt(ctx context.Context, s driver.Stmt, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := s.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	return s.Exec(values)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	ctx, span := scope.Context(ctx, "sql.query", scope.KV("statement", s.query))
	r, err := queryStmt(ctx, s.s, args)
	end(span, err)
	return r, err
}

func queryStmt(ctx context.Context, s driver.Stmt, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	values, err := positional(ctx, args)
	if err != nil {
		return nil, err
	}
	return s.Query(values)
}
