package scopesql

import (
	"context"
	"database/sql/driver"
	"io"

	"github.com/scopeview/scopeview/scope"
)

// Wrap returns a driver whose connections are recorded, for sql.Register.
func Wrap(d driver.Driver) driver.Driver { return &wrapped{d} }

// Connector returns a connector whose connections are recorded, for sql.OpenDB. Its Driver
// is c's.
func Connector(c driver.Connector) driver.Connector { return &connector{c} }

// Unwrap returns the driver's own connection, given the one that sql.Conn.Raw passes:
//
//	err := conn.Raw(func(c any) error { return scopesql.Unwrap(c).(*stdlib.Conn)… })
//
// Any other value is returned unchanged.
func Unwrap(driverConn any) any {
	if c, ok := driverConn.(interface{ unwrap() driver.Conn }); ok {
		return c.unwrap()
	}
	return driverConn
}

type wrapped struct{ d driver.Driver }

// Open connects. database/sql calls OpenConnector instead.
func (w *wrapped) Open(name string) (driver.Conn, error) {
	c, err := w.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

func (w *wrapped) OpenConnector(name string) (driver.Connector, error) {
	d, ok := w.d.(driver.DriverContext)
	if !ok {
		return &connector{named{w.d, name}}, nil
	}
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return &connector{c}, nil
}

// named is a connector for a driver that has none, as in database/sql.
type named struct {
	d    driver.Driver
	name string
}

func (n named) Connect(context.Context) (driver.Conn, error) { return n.d.Open(n.name) }
func (n named) Driver() driver.Driver                        { return n.d }

type connector struct{ c driver.Connector }

func (c *connector) Driver() driver.Driver { return c.c.Driver() }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, span := scope.Context(ctx, "sql.connect")
	inner, err := c.c.Connect(ctx)
	end(span, err)
	if err != nil {
		return nil, err
	}
	return wrapConn(inner), nil
}

func (c *connector) Close() error {
	if closer, ok := c.c.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// end ends the scope of a call that returned err.
func end(span scope.Span, err error) {
	switch err {
	case nil:
		span.End()
	case driver.ErrSkip:
		span.End(scope.KV("skipped", true))
	default:
		span.End(scope.KV("failed", true))
	}
}

// endExec is end with the number of affected rows, if that is known without a call.
func endExec(span scope.Span, r driver.Result, err error) {
	if n, ok := r.(driver.RowsAffected); ok && err == nil {
		span.End(scope.KV("rows", int64(n)))
		return
	}
	end(span, err)
}
