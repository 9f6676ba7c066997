// Command scopeview records unchanged programs, and reads their traces and those of programs that
// import github.com/scopeview/scopeview/scope.
//
//	scopeview run              Build, run and record an unchanged program
//	scopeview build            Build an unchanged program so that it can record
//	scopeview test             Run unchanged tests, and keep traces of those that fail
//	scopeview record           Record a program from outside, unchanged: where its CPU time goes, page faults, switches
//	scopeview ctl              Switch a recording on and off, set its filter, request a snapshot
//	scopeview vet              Find mistakes in calls of package scope
//	scopeview serve            Show the timeline in a browser, also while the program runs
//	scopeview html             Write the timeline as one HTML file
//	scopeview info             Show what was recorded, where, how, and whether all of it was kept
//	scopeview top              Show where the time went, by name or row, and the waits for locks
//	scopeview sql              Ask a trace, or the tables of a fleet, in SQL
//	scopeview tail             Follow a trace while it is being written
//	scopeview stacks           Count calls of scope.Stack by call stack
//	scopeview mcp              Answer a language model's questions about traces (Model Context Protocol)
//	scopeview doctor           Find why the program does not scale: which lock, which scope, and the gain of mending it
//	scopeview waits            Show waits for locks, channels and others, with waiters and holders
//	scopeview states           Show the states of goroutines: running, preempted, or waiting, and for what
//	scopeview compare          Compare two recordings, or several of each: what became slower, and whether by chance
//	scopeview advise           Show the costs of containers, buffers and locks, and cheaper alternatives
//	scopeview scale            Run a command with several GOMAXPROCS, and show how it scales and what limits it
//	scopeview profile          Show where the time went, on CPUs and waiting: by function, line, goroutine and others
//	scopeview callers          Show a function's callers and callees, with the cost of each call
//	scopeview source           Show a function's or a file's source with the cost of each line
//	scopeview disasm           Show a function's instructions with the cost of each, below their lines
//	scopeview pgo              Make profiles for Go's compiler, and see how it uses them
//	scopeview pgo collect      Make a default.pgo from recordings, a running program, or a command
//	scopeview pgo merge        Add up profiles, by sample, by duration, or with equal shares
//	scopeview pgo show         Show a profile's calls and functions as Go's compiler reads them, with the hot ones marked
//	scopeview pgo overlap      Compare two profiles by the weight of their calls
//	scopeview pgo check        Check how much of a profile fits the current source: functions, lines, calls
//	scopeview pgo salvage      Make an old profile fit the current source: moved lines, renamed and moved functions
//	scopeview pgo rename       Rename functions or packages in a profile
//	scopeview pgo shrink       Reduce a profile to the calls that Go's compiler reads, and verify that nothing is lost
//	scopeview pgo explain      Show how Go's compiler treated each hot call of a profile: inlined, or why not
//	scopeview pgo ab           Build with and without a profile, run both alternately, and compare their times
//	scopeview autofdo          Write and read sample profiles in LLVM's text format, for clang and for Go
//	scopeview autofdo write    Write a sample profile in LLVM's text format
//	scopeview autofdo read     Make a default.pgo for Go's compiler from a sample profile
//	scopeview autofdo merge    Add up sample profiles
//	scopeview autofdo show     Show the functions of a sample profile, the hottest first
//	scopeview autofdo overlap  Compare two sample profiles
//	scopeview export           Export the trace: CSV, Chrome, Perfetto, pprof, go tool trace, OpenTelemetry, Parquet
//	scopeview export csv       Write the trace as comma-separated values
//	scopeview export chrome    Write the trace as Chrome Trace Event JSON
//	scopeview export perfetto  Write the trace as Perfetto protobuf
//	scopeview export pprof     Write CPU time and waits as a profile for go tool pprof, or as folded stacks
//	scopeview export gotrace   Write the recorded Go execution trace, for go tool trace
//	scopeview export otlp      Write scopes as OpenTelemetry spans, to a collector or a file
//	scopeview export parquet   Write Parquet tables of many traces, into a directory or an object store
//	scopeview snapshot         Copy the current contents of traces, or a range of them, to new ones
//	scopeview pack             Compress a trace to one to six bytes per scope, from 32
//	scopeview unpack           Restore the trace from a packed one
//	scopeview merge            Merge the traces of several processes into one
//	scopeview join             Add a Go execution trace that was recorded separately
//	scopeview archive          Store the executable and the sources with a trace, for other machines and later days
//	scopeview anonymize        Make a copy of a trace without names, to give away
//	scopeview verify           Check a trace against every rule of the format
//	scopeview dump             Write the trace as text, byte for byte
//	scopeview assemble         Make a trace from the text that dump writes
//	scopeview calibrate        Measure the cost of small operations on this machine, for advise
//	scopeview membench         Measure the memory bandwidth of this machine, by the number of cores
//	scopeview check-hooks      Test the standard library hooks of run, build and test on this toolchain
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
