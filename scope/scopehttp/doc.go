// Package scopehttp records the requests that a program serves and sends:
//
//	http.ListenAndServe(addr, scopehttp.Middleware(mux))
//	client := &http.Client{Transport: scopehttp.Transport(nil)}
//
// It also lets a program with a debug server be recorded from outside:
//
//	mux.Handle("/debug/scope/", scopehttp.Handler())
//
// Importing it registers nothing. Whoever reaches this handler can read what the program records
// and make it write traces, so mount it where net/http/pprof would be: on a private port, or behind
// the program's own login. The handler itself has none.
//
// # Routes
//
// The last element of the path is the route, wherever the handler is mounted:
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
// The body of a POST is a form (application/x-www-form-urlencoded), as sent by curl -d. start takes
// a directory as path (the default is the first one that the program allows; see WithDir), ring and
// limit in bytes (1048576, 256M, 1G), and a filter as for scope.SetFilter. The response is a
// sentence of text; a browser gets the page with the sentence on top. Errors are a sentence too,
// with the status 400 (the form), 403 (the client or the directory is not allowed), 404 (no
// recording, no such route), 405, 409 (a recording runs), 413, 415, 501 (built with -tags
// scope_off), 503 (others download), 504 (the recorder does not answer), 507 (no space, or too many
// files). Every answer has the header X-Scopeview.
//
//	curl -d ring=64M http://localhost:6060/debug/scope/start
//	scopeview top http://localhost:6060/debug/scope/
//
// # Status
//
// The keys of status; keys may be added, but none changes its meaning:
//
//	running      whether a recording runs
//	path         of its trace, or of the last one's; "" if there was none
//	recorded     records kept
//	stacks       calls of scope.Stack counted
//	lost         total, and by reason: window, limit, space, io, busy, stop, ends, stacks, opens, buffer;
//	             unknown: more may be lost, because the counters in the trace were tampered with
//	overwritten  records of a ring that newer ones replaced
//	misuse       double_ends, foreign_ends, stale_ends, other_names, other_stacks, args_cut
//	bytes        written so far; a ring's trace has its last ones
//	recorder     the recording path, and why no faster one
//	last_error   the last error that kept something from being written; "" if nothing did
//	filter       the filter by name; "" if all names are recorded
//	off          whether recording is switched off, until it is switched on again
//	slow         scopes that took longer than a trigger's limit
//	snapshots    snapshots written
//	program, pid, go  the executable's name, the process, Go's version
//
// # What is relied on
//
// A debug server is often reachable by its user's browser, and so by every page that is open in it:
//
//  1. Only POST changes anything, and a POST whose headers name another
//     origin is refused (http.CrossOriginProtection).
//  2. Other sites can't read anything either: a request whose headers say that it is not from
//     this origin, nor typed in, is refused, and no response header lets another site
//     read a response, frame it, or guess its type.
//  3. A page of evil.com can point its own name at this server (DNS rebinding),
//     and its requests then have the same origin. So requests are answered
//     for an address, for localhost, and for names without a dot, which
//     do not exist on the internet; for others only if the program allows them:
//     WithHosts.
//  4. A client can't choose a directory other than those that
//     the program allows, nor file names, nor let files grow beyond
//     WithMaxBytes, nor create more than 16 of them.
//  5. Bodies are limited; a download's file exists only while it is created, and
//     a client that stops reading is disconnected.
package scopehttp
