package scopeslog_test

import (
	"log/slog"
	"os"

	"github.com/scopeview/scopeview/scope/scopeslog"
)

func ExampleNew() {
	next := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // not in an example
		}
		return a
	}})
	log := slog.New(scopeslog.New(next))
	log.Info("cache miss", "key", "user:7") // a line and, while a recording runs, an event
	// Output: level=INFO msg="cache miss" key=user:7
}
