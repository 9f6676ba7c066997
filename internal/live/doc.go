// Package live is the local web server of `scopeview serve`. It shows the timeline
// page of one trace, or of those in a directory, also while they are written.
//
// # Design
//
// A trace's names are hostile, and so may be every other page in the browser and
// every other program that finds the port. What is relied on:
//
//  1. No request is answered whose Host is not this machine's loopback or a name
//     that the user allowed. Otherwise a page of evil.com could point its own
//     name to 127.0.0.1 and read everything (DNS rebinding). The port is not
//     compared: through `ssh -L` and `kubectl port-forward` it is another one.
//  2. No request is answered without the token that only who started the server
//     has seen. Otherwise every user and program of the machine could ask. It
//     comes once in the address and from then on in a cookie: so it is neither
//     in the history nor in a shared link. Browsers send cookies
//     to every port of a host: the token protects from who does not serve pages
//     on this machine to this browser.
//  3. Nothing changes anything: GET and HEAD only. A request that says that it
//     comes from another site's page is refused all the same. No header ever
//     lets another site read an answer.
//  4. Names of files come out of a directory's list and never out of a request:
//     a trace is asked for by its number. The list goes some levels down, and
//     into no links.
//
// The list reads a trace's header and its first block chunk, and keeps what it
// found as long as size and time of the file stay. Which names are slow takes
// reading scopes: one goroutine does that, while somebody looks, and rests as
// long as it reads. See slow.go. What is joined to one timeline becomes a file
// of the server's own.
//
// A trace that is looked at is loaded once, into a timeline.Index, whoever
// asks; nobody asking for a while, it is dropped. Of one that is being written,
// one goroutine follows the growth. A large one that does not grow is shown while
// it is read: each whole says how far that is, and the page is told to ask again.
// Of one that grows every scope is kept, however large it is. See session.
package live
