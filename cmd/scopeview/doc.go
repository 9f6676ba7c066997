// Command scopeview looks at the traces of programs that import
// github.com/scopeview/scopeview/scope.
//
//	scopeview info TRACE     what was recorded, where, how, and was all of it kept
//	scopeview top TRACE      where the time went, by name or row; who waited for which lock
//	scopeview waits TRACE    which locks were waited for, by whom, and who had them meanwhile
//	scopeview html TRACE     the timeline as one file for the browser; see package export/html
//	scopeview serve TRACE    the timeline in the browser, also while the program runs; see
//	                         package internal/live
//	scopeview csv TRACE      every record as a row; the columns are in package export/csv
//	scopeview chrome TRACE   Chrome Trace Event JSON; see package export/chrome
//	scopeview perfetto TRACE Perfetto's protobuf; see package export/perfetto
//	scopeview stacks TRACE   from where scope.Stack was called, and how often; for pprof, for flame graphs
//	scopeview states TRACE   what goroutines did, by scope, row, creation site, or each; see package internal/states
//	scopeview tail TRACE     each scope as it ends, while the program runs
//	scopeview snapshot TRACE what it holds now, as a trace of its own; see package internal/snapshot
//	scopeview join TRACE GOTRACE  both as one trace; GOTRACE is what go test -trace writes
//	scopeview ctl TRACE …    switches its recording on and off, sets its filter, has a snapshot written
//	scopeview anonymize TRACE  a copy to give away; see package internal/anonymize
//	scopeview dump TRACE     the file as text, to the byte
//	scopeview assemble TEXT  a trace of that text again; see package internal/trace/text
//	scopeview verify TRACE   the file against every rule of docs/format.md
//	scopeview vet [PACKAGE]  mistakes in calls of package scope; see package internal/scopevet
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
//	3  records were lost, or overwritten in a ring (with --strict)
//
// # JSON
//
// info, top and verify print a document with --json. Keys may be added; none
// changes its meaning or goes away. Keys that end in _ns are integer nanoseconds,
// times from the trace's start; null is unknown.
//
// info: path, bytes; state: closed, writing, abandoned (no Stop, and nobody writes
// it any more) or unknown; start (RFC 3339), duration_ns; lost: total and by
// reason; gaps: from_ns, to_ns, count, reason; ring, if the trace is one: bytes,
// overwritten, how many records were, whole_from_ns, from when on all are there; pid; info: what the recorder
// noted, such as program, args, go, module, version, host, kernel, cpu; format;
// path_kind: assembly, go, pure; backing: disk, heap, shm; hot_part, of shm: joined, or
// missing, where what was recorded since the last round may be too; clock: tsc, monotonic;
// witnesses: goroutine, yield, switch; records: total and by kind; open: by kind;
// cpu_quality, of ended tasks: exact, likely, at_most, unknown; recording_cost:
// percent_of_cpu, process_cpu_ns, measured_ns, estimated_ns; stacks, what scope.Stack
// counted: calls, names, stacks (pairs of a name and a stack); go_trace, the Go execution
// trace if there is one: bytes, spans (from_ns, to_ns: what it tells of), transitions, samples,
// missing (parts are not there), problems; thread_switches: there is when threads were on a
// CPU; heartbeats, how many; last_heartbeat: the fields that are known; notes: time_ns, text;
// clock_steps: from_ns, to_ns; problems: offset, text, count, damage (false: a
// sound writer leaves that too); never_ended, names that began often and never
// ended: name, kind, begun.
//
// top: lost, ring and never_ended as above; by: name or track; and
//
//   - scopes: name; process (scope.Process: CPU is the process's); count, total_ns,
//     mean_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns of the ended ones; self_ns;
//     cpu_ns, the known CPU time, of scopes of cpu_wall_ns together, cpu_coverage,
//     their share of total_ns, cpu_per_wall; cpu_max_ns, upper bounds of others,
//     of scopes of cpu_max_wall_ns together; open and open_ns; across_clock_steps,
//     how many have no known duration
//   - locks: name; waits, wait_ns, wait_max_ns; holds, hold_ns, hold_max_ns; waiting,
//     waiting_ns, held, held_ns of what has not ended; held_by: name (null: no
//     scope), wait (name is a lock that the holder waited for), ns, share
//   - events: name, pending, count, to_come, first_ns, last_ns
//   - counters: name, count, min, max, last: numbers, or "NaN", "+Inf", "-Inf"
//
// stacks: lost and ring as above (of a ring, what was counted lately); names: name, calls, weight (the sum of the weights),
// stacks, how many; stacks: name, calls, weight, share of the name's calls, cut
// (there were more callers), frames: function, file, line, inlined (into the
// next frame's function), the caller first; none: (other stacks).
//
// states: lost and ring as above; from_ns, to_ns, what the Go execution trace covers; how many
// goroutines it tells of, and transitions from state to state; switches, how often threads
// came onto CPUs or left them (null: not recorded, and switches_why); problems, sentences;
// checks, by name (sum, cpu, unknown): ok (null: could not be checked), off and tolerance
// (0.01 is 1 %), text; by: name, track, site or goroutine; all_ns, the times by state of the
// program's goroutines, runtime_ns, those of the runtime's and the recorder's; groups: name,
// goroutine, count (scopes, or goroutines), total_ns, states_ns, and by name self_ns, without
// the scopes inside. A state that is not there has no time.
//
// waits: lost and ring as above; threshold (null: no lock has told of itself): how (all, calibrated,
// duration) and ns, how long a wait must be to be recorded; go_states: there is a Go execution
// trace; problems, sentences; and
//
//   - locks: name, address, kind (lock, mutex, rwmutex, retry); acquired, contended, how often it was
//     had, and not at once; brief and brief_ns, of these the waits that were not recorded; waits,
//     wait_max_ns of those that were and ended; wait_ns, the time of all; waiting, waiting_ns, those that have not
//     ended; waits_shared, with other readers; waiting_for_itself; holds, hold_ns, hold_max_ns, held, held_ns,
//     of the holds that were recorded; hold_all_ns, of all, and hold_all_estimated; tries, those that
//     failed; holders, what had it when somebody began to wait, and waiters, what waited: name
//     (null: no scope, or unknown), unknown, wait, count, ns, share; held_by as above; stacks, with
//     --stacks: count, ns, stack and woken
//   - places, where goroutines waited for something else: state, at (function, file, line), count, ns, max_ns,
//     woken_by (at, count, ns, stack) and stack
//
// verify: findings: offset, rule, text.
package main
