// Command scopeview records programs that nobody has changed, and looks at their traces, and at
// those of programs that import github.com/scopeview/scopeview/scope.
//
//	scopeview run PACKAGE    go run, and record it; see package internal/build
//	scopeview build PACKAGE  go build; what it builds records when the environment says so
//	scopeview test PACKAGE   go test, with a trace of each package that fails
//	scopeview check-hooks    which hooks in the standard library work with the go command that is here
//	scopeview info TRACE     what was recorded, where, how, and was all of it kept
//	scopeview top TRACE      where the time went, by name or row; who waited for which lock
//	scopeview waits TRACE    which locks were waited for, by whom, and who had them meanwhile
//	scopeview doctor TRACE   why the program does not scale, and what mending it would gain; see package internal/doctor
//	scopeview advise RAW     which container, buffer or lock costs what, of what run --advise has counted; see package internal/advice
//	scopeview calibrate      what small operations take on this machine, for advise
//	scopeview html TRACE     the timeline as one file for the browser; see package internal/export/html
//	scopeview serve TRACE    the timeline in the browser, also while the program runs; see
//	                         package internal/live
//	scopeview mcp DIR        answers a language model's questions; see package internal/mcpserver
//	scopeview csv TRACE      every record as a row; the columns are in package internal/export/csv
//	scopeview chrome TRACE   Chrome Trace Event JSON; see package internal/export/chrome
//	scopeview perfetto TRACE Perfetto's protobuf; see package internal/export/perfetto
//	scopeview pprof TRACE    CPU time and waits as a profile for go tool pprof; see package internal/export/pprof
//	scopeview gotrace TRACE  the Go execution trace that was recorded along, for go tool trace
//	scopeview export otlp TRACE  scopes as OpenTelemetry spans; see package internal/export/otlp
//	scopeview sql QUESTION   asks DuckDB about the tables that export parquet has written
//	scopeview stacks TRACE   from where scope.Stack was called, and how often; for pprof, for flame graphs
//	scopeview states TRACE   what goroutines did, by scope, row, creation site, or each; see package internal/states
//	scopeview compare TRACE TRACE  two recordings side by side, or several runs of each; see package internal/report/compare
//	scopeview functions TRACE  in which functions the time went, on CPUs and waiting; see package internal/samples
//	scopeview callers TRACE FUNC  who calls a function, and whom it calls, with what each call costs
//	scopeview tree TRACE     who called whom, from <Total> on
//	scopeview lines TRACE    as functions, by line of the source
//	scopeview source TRACE FUNC|FILE  the source with what each line cost; see package internal/symbols
//	scopeview disasm TRACE FUNC  the instructions with what each cost
//	scopeview objects TRACE  as functions, by program, library, kernel
//	scopeview goroutines TRACE  as functions, by goroutine
//	scopeview threads TRACE  as functions, by thread
//	scopeview samples TRACE  each sample and each wait
//	scopeview header TRACE   what samples there are
//	scopeview pgo COMMAND    profiles for Go's compiler, and what it makes of them; see package internal/pgo
//	scopeview autofdo COMMAND  sample profiles in LLVM's text format; see package internal/autofdo
//	scopeview tail TRACE     each scope as it ends, while the program runs
//	scopeview record -- COMMAND  records a program from outside, unchanged; see package internal/outside
//	scopeview snapshot TRACE... what it holds now, as a trace of its own; see package internal/snapshot
//	scopeview merge TRACE...   the traces of several processes as one; see package internal/merge
//	scopeview join TRACE GOTRACE  both as one trace; GOTRACE is what go test -trace writes
//	scopeview archive TRACE  stores the executable and the sources with it, for other machines
//	scopeview pack TRACE     as a file of one to six bytes a scope, which every command reads; see package internal/pack
//	scopeview unpack TRACE   the trace of which pack has made it
//	scopeview ctl TRACE …    switches its recording on and off, sets its filter, has a snapshot written
//	scopeview anonymize TRACE  a copy to give away; see package internal/anonymize
//	scopeview dump TRACE     the file as text, to the byte
//	scopeview assemble TEXT  a trace of that text again; see package internal/trace/text
//	scopeview verify TRACE   the file against every rule of docs/format.md
//	scopeview vet [PACKAGE]  mistakes in calls of package scope; see package internal/scopevet
//	scopeview scale -- COMMAND  how a command's time depends on GOMAXPROCS
//	scopeview membench       how much memory this machine moves, by the number of cores
//	scopeview version        the version of the tool, its commit and Go's version
//	scopeview completion     completion for bash, zsh, fish and PowerShell
//
// TRACE is a file, a directory (its newest *.scope file, by when the recording
// was started; serve shows all of them), the number of a running process
// (Linux: the trace that it has open), or an address: where a program has mounted
// scopehttp.Handler, or that of a *.scope file on a web server. What is there is
// downloaded, and removed when the command has ended; tail and serve show that
// copy. What a command prints goes to standard output or, with -o, to a file that
// appears when it is complete; what there is to say about it goes to standard
// error.
//
// # Exit codes
//
//	0  ok; also for a trace that is being written, or whose program was killed
//	1  failed, or the trace was cut or changed: what could be read was shown first
//	2  wrong usage
//	3  records were lost, or may have been, or overwritten in a ring (with --strict)
//	4  what --fail-on asks for was found
//
// # JSON
//
// info, top, waits, states, doctor, compare, stacks, verify, scale, membench, check-hooks, and
// those that show samples print a document with --json. docs/json.md lists its keys, their types and units.
package main
