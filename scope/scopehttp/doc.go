// Package scopehttp records the requests that a program serves and sends:
//
//	http.ListenAndServe(addr, scopehttp.Middleware(mux))
//	client := &http.Client{Transport: scopehttp.Transport(nil)}
//
// And it lets a program with a debug server be recorded from outside:
//
//	mux.Handle("/debug/scope/", scopehttp.Handler())
//
// Importing it registers nothing. Whoever reaches this handler can read what the
// program records and can make it write traces, so mount it where net/http/pprof
// would be: on a port that is not the public one, or behind the program's own
// login. The handler asks for none.
//
// # Routes
//
// The last element of the path says what is asked for, wherever the handler is
// mounted:
//
//	GET  .../          a page with the status, and forms for the rest
//	GET  .../status    the same as JSON
//	GET  .../download  the recording until now, or the last one, as an ordinary trace
//	POST .../start     start a recording: path, ring, limit, filter
//	POST .../stop      stop it
//	POST .../off, on   record nothing, and go on: it stays the same trace, with its ring and filter
//	POST .../filter    expr: choose by name what is recorded from now on
//	POST .../snapshot  write the recording until now beside the trace
//
// What is posted is a form (application/x-www-form-urlencoded), as of curl -d.
// start takes a directory as path (the first one that the program allows, if none
// is given; see WithDir), ring and limit as bytes (1048576, 256M, 1G), and a filter
// as scope.SetFilter does. Answers are a sentence of text; a browser gets the page
// with the sentence on top. Errors are a sentence too, with the status 400 (the
// form), 403 (who asks, or where it should write), 404 (no recording, no such
// route), 405, 409 (a recording runs), 413, 415, 501 (built with -tags scope_off),
// 503 (others download), 504 (the recorder does not answer), 507 (no space, or too many
// files). Every answer has the header X-Scopeview.
//
//	curl -d ring=64M http://localhost:6060/debug/scope/start
//	scopeview top http://localhost:6060/debug/scope/
//
// # Status
//
// The keys of status; keys may be added, none changes its meaning:
//
//	running      whether a recording runs
//	path         of its trace, or of the last one's; "" if there was none
//	recorded     records kept
//	stacks       calls of scope.Stack counted
//	lost         total, and by reason: window, limit, space, io, busy, stop, ends, stacks, opens, buffer;
//	             unknown: more may be lost, since somebody has changed the counters in the trace
//	overwritten  records that the ring let go of
//	misuse       double_ends, foreign_ends, stale_ends, other_names, other_stacks, args_cut
//	bytes        written so far; a ring's trace has its last ones
//	recorder     how records are written, and why not faster
//	last_error   the last that kept something from being written; "" if nothing did
//	filter       by which names are chosen; "" if all are
//	off          whether it is switched off: nothing is recorded until it is switched on
//	slow         scopes that took longer than a trigger's limit
//	snapshots    how many were written
//	program, pid, go  the executable's name, the process, Go's version
//
// # What is relied on
//
// A debug server is often reachable by its user's browser, and so by every page
// that is open in it:
//
//  1. Nothing changes but by POST, and a POST that says it comes from another
//     origin is refused (http.CrossOriginProtection).
//  2. Nothing is read by another site either: a request that says it is not from
//     this origin, nor typed in, is refused, and no header ever lets another site
//     read an answer, frame it, or guess its type.
//  3. A page of evil.com can point its own name at this server (DNS rebinding),
//     and its requests are then of the same origin. So requests are answered
//     under an address, as localhost, and under names without a dot, which
//     nobody on the internet owns; under others only if the program says so:
//     WithHosts.
//  4. A client can't choose where files are written beyond the directories that
//     the program allows, nor what they are called, nor let them grow beyond
//     WithMaxBytes, nor have more than 16 of them.
//  5. Bodies are bounded; one download's file exists only while it is made, and
//     a client that stops reading is given up.
package scopehttp
