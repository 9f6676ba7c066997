// Package scopesql records a program's use of database/sql: a scope for each query, exec,
// prepare, begin, commit, rollback, ping and connect.
//
//	db := sql.OpenDB(scopesql.Connector(connector))              // or:
//	sql.Register("postgres+scope", scopesql.Wrap(&pq.Driver{}))  // once, and then
//	db, err := sql.Open("postgres+scope", dsn)
//
// The scopes are called sql.query, sql.exec and so on. Their parent is the scope that the
// call's context carries (scope.Context, scopehttp). Their arguments:
//
//   - statement: its text, cut as every string is. Arguments of a statement are never
//     recorded: they are private. Values that a program writes into the text are recorded;
//     scopeview anonymize removes them.
//   - rows: the number that an exec affected, if the driver returns driver.RowsAffected.
//     Another result is not asked, because it might query the database.
//   - failed: true. The error's text is not recorded, because it may contain values.
//   - skipped: true if the driver requires the statement to be prepared first. The scopes of
//     that follow.
//
// The scope of a query ends when the driver returns; reading the rows comes after it.
// Waiting for a connection of the pool is not recorded here, because the driver does not
// see it; sql.DB.Stats counts it, and scopeview run and package scope/gotrace show it as a
// wait.
//
// The wrapped driver has the same optional interfaces of database/sql/driver as the
// original, or those with which database/sql behaves the same.
package scopesql
