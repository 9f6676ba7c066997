// Package query answers questions in SQL about a trace.
//
// # Design
//
// The engine is SQLite, in modernc.org/sqlite: SQL that many people know, in Go, with virtual tables. The
// alternative, DuckDB, is faster on columns and needs C++, or thirty megabytes of WebAssembly.
//
//  1. A trace is not loaded: a virtual table reads it while SQLite asks for rows, a page of rows at a time.
//     What SQLite wants to know of the time, the name and the kind narrows what is read. SQLite checks all
//     conditions again, so the narrowing only has to keep what they may select.
//  2. Tables have the columns of the CSV export, under the same names. What is unknown is NULL.
//  3. A question only reads: an authorizer refuses everything else when it is compiled, in a database in
//     memory that has nothing but these tables.
package query
