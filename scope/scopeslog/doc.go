// Package scopeslog records what a program logs with log/slog, on the rows of its goroutines:
//
//	slog.SetDefault(slog.New(scopeslog.New(slog.NewJSONHandler(os.Stderr, nil))))
//
// Each record for which the next handler is enabled becomes an event, and is passed to that
// handler. If its context carries the scope of a request (scope.Context, scopehttp), that is
// the event's parent, and the next handler gets the additional attributes trace_id and span_id,
// outside of all groups.
//
// # What is recorded
//
// The event's name is the message if that is a constant, which the recorder detects on Linux. A
// composed message is the argument msg of an event log.INFO, log.WARN …: there may be any
// number of them, and the names in a trace are limited. On other systems each message is a
// name, until there are very many.
//
// A level other than INFO is an argument. Attributes are arguments: numbers, strings, bools and
// durations as they are, times as text, those of groups with keys like request.method. For any
// other value the type's name is recorded, also for a slog.LogValuer, whose LogValue is never
// called. An event has room for five attributes, or for three and its link; Misuse.ArgsCut
// counts the events that lack some.
//
// Without a recording, the handler adds a load and a branch.
package scopeslog
