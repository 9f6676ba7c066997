// Package query answers SQL questions about a trace: SELECT over its scopes, waits, states and
// samples.
//
// # Design
//
// The engine is SQLite, as modernc.org/sqlite translates it to Go: no cgo, no second program, and
// a dialect with windows, recursion and JSON that people and language models know. DuckDB needs
// cgo or a program of its own, and answers questions about many traces for scopeview-fleet.
// Engines written in Go lack windows or memory limits.
//
//  1. The trace is never loaded. Each table is a virtual table over the reader: a scan of records
//     converts the parts of the trace on all processors (trace.EachPart) to batches of rows, and
//     SQLite pulls them on one. A LIMIT that is reached ends the reading.
//  2. What a question does not use is not computed: depths, rows' names, CPU times and arguments
//     cost most, and SQLite reports which columns it reads.
//  3. Bounds of numbers, and equal texts, are tested in the scan (conditions), on all processors.
//     They may let too much pass, and never too little: SQLite tests all again. A range of
//     start_ns alone reads only the chunks that can have it.
//  4. A table that is scanned again, as the inner one of a join, is kept in memory if it fits
//     keptMost. Otherwise each scan reads the trace.
//  5. A question comes from a stranger: the served page. Its statement is prepared by itself
//     first, with an authorizer that allows only reading, in a database in memory without
//     anything else in it. Then it runs as INSERT INTO answer SELECT …, where answer is a virtual
//     table that hands on the rows: the driver can interrupt a whole INSERT, but of a SELECT only
//     what comes before the first row.
//  6. SQLite's memory is limited, in the whole process, to memoryMost.
//
// A column has the name it has in the CSV export. Unknown values are NULL.
package query
