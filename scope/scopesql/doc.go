// Package scopesql records what a program does through database/sql: a scope for each
// query, exec, prepare, begin, commit, rollback, ping and connect.
//
//	db := sql.OpenDB(scopesql.Connector(connector))              // or:
//	sql.Register("postgres+scope", scopesql.Wrap(&pq.Driver{}))  // once, and then
//	db, err := sql.Open("postgres+scope", dsn)
//
// The scopes are called sql.query, sql.exec and so on. They are parts of the scope that the
// call's context carries (scope.Context, scopehttp). Their arguments:
//
//   - statement: its text, cut as every string is. Arguments of a statement are never
//     recorded: they are private. So are those that a program writes into the text, which
//     scopeview anonymize takes out.
//   - rows: how many an exec affected, where the driver tells it as driver.RowsAffected.
//     Nothing else is asked: it might ask the database.
//   - failed: true. The error's text is not recorded, as it may have values in it.
//   - skipped: true where the driver wants the statement to be prepared first. Scopes of
//     that follow.
//
// The scope of a query ends when the driver has its first answer. Reading the rows is the
// program's time. Waiting for a connection of the pool is not seen here, because
// database/sql does not tell the driver; sql.DB.Stats counts it, and scopeview run and
// package scope/gotrace show it as a wait.
//
// The wrapped driver has the optional interfaces of database/sql/driver that its own one
// has, or those that make database/sql do the same.
package scopesql
