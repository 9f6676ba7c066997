// Package live is the local web server of `scopeview serve`. It shows the timeline page of
// one trace, or of those in a directory, even while they are being written.
//
// # Design
//
// A trace's names may be hostile, and so may every other page in the browser and every other
// program that finds the port. Invariants:
//
//  1. No request is answered unless its Host is this machine's loopback or a name
//     that the user allowed. Otherwise a page of evil.com could point its own
//     name to 127.0.0.1 and read everything (DNS rebinding). The port is not
//     compared: through `ssh -L` and `kubectl port-forward` it differs.
//  2. No request is answered without the token that only the person who started the
//     server has seen. Otherwise every user and program of the machine had access. It
//     is once in the address and from then on in a cookie: so it is neither
//     in the history nor in a shared link. Browsers send cookies
//     to every port of a host: the token gives no protection from servers
//     on this machine that this browser visits.
//  3. No request changes anything: GET and HEAD only. A request that, by its headers,
//     comes from another site's page is rejected all the same. No header ever
//     lets another site read an answer.
//  4. Names of files come from a directory's list and never from a request:
//     a trace is requested by its number. The list reads at most 8 levels of
//     directories, and follows no links.
//
// The list reads a trace's header and its first block chunk, and caches the result as long
// as size and time of the file stay. Finding slow names requires reading scopes: one
// goroutine does that, while the list is in use, and rests as long as it reads. See slow.go.
// A joint timeline is written to a temporary file of the server.
//
// A trace in use is loaded once, into a timeline.Index, for all clients; after some time
// without requests it is dropped. While it is being written, one goroutine follows the
// growth. A large one that does not grow is shown while it is read: each whole has the
// progress, and makes the page request it again. Of one that grows every scope is kept,
// however large it is. See session.
package live
