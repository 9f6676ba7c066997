// Command scopeview records unchanged programs, and reads their traces and those of programs that
// import github.com/scopeview/scopeview/scope.
//
//	scopeview run PACKAGE    go run, and record it; see package internal/build
//	scopeview build PACKAGE  go build; the program records if the environment says so
//	scopeview test PACKAGE   go test, with a trace of each package that fails
//	scopeview check-hooks    which hooks in the standard library work with the installed go command
//	scopeview info TRACE     what was recorded, where, how, and whether all of it was kept
//	scopeview top TRACE      where the time went, by name or row; waits for locks
//	scopeview waits TRACE    which locks were waited for, by whom, and their holders meanwhile
//	scopeview doctor TRACE   why the program does not scale, and the gain of mending it; see package internal/doctor
//	scopeview advise RAW     the costs of containers, buffers and locks that run --advise has counted, with advice; see package internal/advice
//	scopeview calibrate      measures the cost of small operations on this machine, for advise
//	scopeview html TRACE     the timeline as one file for the browser; see package internal/export/html
//	scopeview serve TRACE    the timeline in the browser, also while the program runs; see
//	                         package internal/live
//	scopeview mcp DIR        answers a language model's questions; see package internal/mcpserver
//	scopeview csv TRACE      every record as a row; the columns are in package internal/export/csv
//	scopeview chrome TRACE   Chrome Trace Event JSON; see package internal/export/chrome
//	scopeview perfetto TRACE Perfetto's protobuf; see package internal/export/perfetto
//	scopeview pprof TRACE    CPU time and waits as a profile for go tool pprof; see package internal/export/pprof
//	scopeview gotrace TRACE  the recorded Go execution trace, for go tool trace
//	scopeview export otlp TRACE  scopes as OpenTelemetry spans; see package internal/export/otlp
//	scopeview sql QUESTION   queries the tables of export parquet with DuckDB
//	scopeview stacks TRACE   calls of scope.Stack by call stack; for pprof, for flame graphs
//	scopeview states TRACE   states of goroutines, by scope, row, creation site, or each; see package internal/states
//	scopeview compare TRACE TRACE  two recordings side by side, or several runs of each; see package internal/report/compare
//	scopeview functions TRACE  time by function, on CPUs and waiting; see package internal/samples
//	scopeview callers TRACE FUNC  a function's callers and callees, with the cost of each call
//	scopeview tree TRACE     the tree of calls, from <Total> on
//	scopeview lines TRACE    as functions, by line of the source
//	scopeview source TRACE FUNC|FILE  the source with the cost of each line; see package internal/symbols
//	scopeview disasm TRACE FUNC  the instructions with the cost of each
//	scopeview objects TRACE  as functions, by program, library, kernel
//	scopeview goroutines TRACE  as functions, by goroutine
//	scopeview threads TRACE  as functions, by thread
//	scopeview samples TRACE  each sample and each wait
//	scopeview header TRACE   the metrics of the samples
//	scopeview pgo COMMAND    profiles for Go's compiler, and how it uses them; see package internal/pgo
//	scopeview autofdo COMMAND  sample profiles in LLVM's text format; see package internal/autofdo
//	scopeview tail TRACE     each scope as it ends, while the program runs
//	scopeview record -- COMMAND  records a program from outside, unchanged; see package internal/outside
//	scopeview snapshot TRACE... its current contents as a new trace; see package internal/snapshot
//	scopeview merge TRACE...   the traces of several processes as one; see package internal/merge
//	scopeview join TRACE GOTRACE  both as one trace; GOTRACE is the output of go test -trace
//	scopeview archive TRACE  stores the executable and the sources with it, for other machines
//	scopeview pack TRACE     as a file of one to six bytes a scope, which every command reads; see package internal/pack
//	scopeview unpack TRACE   the original trace of a packed one
//	scopeview ctl TRACE …    switches its recording on and off, sets its filter, requests a snapshot
//	scopeview anonymize TRACE  a copy without names, to give away; see package internal/anonymize
//	scopeview dump TRACE     the file as text, byte for byte
//	scopeview assemble TEXT  the trace of such a text; see package internal/trace/text
//	scopeview verify TRACE   the file against every rule of docs/format.md
//	scopeview vet [PACKAGE]  mistakes in calls of package scope; see package internal/scopevet
//	scopeview scale -- COMMAND  how a command's time depends on GOMAXPROCS
//	scopeview membench       how much memory this machine moves, by the number of cores
//	scopeview version        the version of the tool, its commit and Go's version
//	scopeview completion     completion for bash, zsh, fish and PowerShell
//
// TRACE is a file, a directory (its *.scope file whose recording was started last; serve shows all
// of them), the number of a running process (Linux: the trace that it has open), or an address:
// where a program has mounted scopehttp.Handler, or that of a *.scope file on a web server. A trace
// at an address is downloaded, and removed when the command has ended; tail and serve show that
// copy. A command prints its result to standard output or, with -o, to a file that appears when it
// is complete; messages go to standard error.
//
// # Exit codes
//
//	0  ok; also for a trace that is being written, or whose program was killed
//	1  failed, or the trace was cut or changed: the readable part was shown first
//	2  wrong usage
//	3  records were lost, may have been lost, or were overwritten in a ring (with --strict)
//	4  a condition of --fail-on holds
//
// # JSON
//
// info, top, waits, states, doctor, compare, stacks, verify, scale, membench, check-hooks, and
// the commands that show samples print a document with --json. docs/json.md lists its keys, their
// types and units.
package main
