// Package scopeslog records what a program logs by log/slog, on the rows of its goroutines:
//
//	slog.SetDefault(slog.New(scopeslog.New(slog.NewJSONHandler(os.Stderr, nil))))
//
// Each record that the next handler is enabled for becomes an event, and goes on to that
// handler. Where its context carries the scope of a request (scope.Context, scopehttp), the
// event is a part of that, and the line that the next handler writes gets the attributes
// trace_id and span_id, outside of all groups.
//
// # What is recorded
//
// The event is called by the message, as a timeline is read by what its marks say. That is so
// where the message is a constant, which the recorder finds out on Linux. A message that was
// put together is the argument msg of an event log.INFO, log.WARN …: there may be any number of
// such, and a trace has room for so many names. On other systems each message is a name
// until there are very many.
//
// The level is an argument, but for INFO. Attributes are arguments: numbers, strings, bools and
// durations as they are, times as text, those of groups with keys like request.method. Of
// anything else the type's name is recorded, and of a slog.LogValuer too: its LogValue is not
// called, as it is the program's. A record has room for five attributes, or for three and its
// request; Misuse.ArgsCut counts those that lack some.
//
// Without a recording a record costs a load and a branch more.
package scopeslog
