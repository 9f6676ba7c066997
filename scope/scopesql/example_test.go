//go:build !scope_off

package scopesql_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopesql"
)

// connector stands for the result of pq.NewConnector, mysql.NewConnector and
// others.
var connector = &fake{conn: conns["all"], stmt: stmts["contexts"]}

func ExampleConnector() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "sql.scope")); err != nil {
		fmt.Println(err)
		return
	}
	db := sql.OpenDB(scopesql.Connector(connector))
	defer db.Close()

	ctx, span := scope.Context(context.Background(), "checkout")
	_, err = db.ExecContext(ctx, "insert into orders values ($1)", 7) // sql.connect and sql.exec
	span.End()
	fmt.Println(err)

	fmt.Println(scope.Stop(), scope.Stats().Recorded, "scopes")
	// Output:
	// <nil>
	// <nil> 3 scopes
}
