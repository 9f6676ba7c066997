//go:build !scope_off

package scopeslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopeslog"
)

func TestMain(m *testing.M) { os.Exit(shmtest.Run(m.Run)) }

// recording starts a recording and returns a function that stops it and returns its events as
// text.
func recording(t *testing.T) func() []string {
	t.Helper()
	stop := recordtest.Start(t)
	return func() (list []string) {
		t.Helper()
		for _, e := range stop() {
			if e.Kind == format.KindEvent {
				list = append(list, e.String())
			}
			if e.Link != (scope.Link{}) {
				list[len(list)-1] += fmt.Sprintf(" of %x/%x", e.Link.Trace, e.Link.Parent)
			}
		}
		return list
	}
}

// TestHandler: with and without a recording it satisfies slog's requirements for handlers.
func TestHandler(t *testing.T) {
	for _, on := range []bool{false, true} {
		t.Run(fmt.Sprint("recording ", on), func(t *testing.T) {
			if on {
				recording(t)
			}
			var b bytes.Buffer
			slogtest.Run(t, func(*testing.T) slog.Handler {
				b.Reset()
				return scopeslog.New(slog.NewJSONHandler(&b, nil))
			}, func(t *testing.T) map[string]any {
				m := map[string]any{}
				if err := json.Unmarshal(b.Bytes(), &m); err != nil {
					t.Fatal(err)
				}
				return m
			})
		})
	}
}

// password is a value that must not be logged.
type password string

func (password) LogValue() slog.Value { panic("LogValue was called") }

type stringer struct{}

func (stringer) String() string { panic("String was called") }

// TestEvents checks the events recorded for log records.
func TestEvents(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("which messages are constants is known on Linux only")
	}
	ctx := context.Background()
	made := fmt.Sprint("user ", 7)
	when := time.Date(2026, 11, 27, 1, 2, 3, 4000, time.UTC)
	for _, test := range []struct {
		about string
		log   func(l *slog.Logger)
		want  string
	}{
		{"a constant", func(l *slog.Logger) { l.Info("cache miss") }, `cache miss`},
		{"a made message", func(l *slog.Logger) { l.Info(made, "a", 1) }, `log.INFO {"msg":"user 7","a":1}`},
		{"a made message of an error", func(l *slog.Logger) { l.Error(made) }, `log.ERROR {"msg":"user 7"}`},
		{"no message", func(l *slog.Logger) { l.Info("") }, `log.INFO {"msg":""}`},
		{"a level", func(l *slog.Logger) { l.Warn("slow") }, `slow {"level":"WARN"}`},
		{"a level of its own", func(l *slog.Logger) { l.Log(ctx, slog.LevelError+4, "gone") }, `gone {"level":"ERROR+4"}`},
		{"not enabled", func(l *slog.Logger) { l.Debug("hidden") }, ``},
		{"numbers", func(l *slog.Logger) { l.Info("x", "a", -1, "b", uint8(2), "c", 2.5, "d", true, "e", time.Second) },
			`x {"a":-1,"b":2,"c":2.5,"d":true,"e":1000000000}`},
		{"texts", func(l *slog.Logger) { l.Info("x", "a", "text", "b", when, "c", nil, "d", false) },
			`x {"a":"text","b":"2026-11-27T01:02:03.000004Z","c":{"type":"nil"},"d":false}`},
		{"others", func(l *slog.Logger) {
			l.Info("x", "a", password("secret"), "b", stringer{}, "c", errors.New("secret"), "d", []int{1})
		}, `x {"a":{"type":"scopeslog_test.password"},"b":{"type":"scopeslog_test.stringer"},"c":{"type":"*errors.errorString"},"d":{"type":"[]int"}}`},
		{"empty attributes", func(l *slog.Logger) {
			l.LogAttrs(ctx, slog.LevelInfo, "x", slog.Attr{}, slog.Group("g"), slog.Int("a", 1))
		}, `x {"a":1}`},
		{"groups", func(l *slog.Logger) {
			l.With("a", 1).WithGroup("g").With("b", 2).Info("x", "c", 3, slog.Group("h", "d", 4, slog.Group("", "e", 5)))
		}, `x {"a":1,"g.b":2,"g.c":3,"g.h.d":4,"g.h.e":5}`},
		{"branches", func(l *slog.Logger) {
			a := l.With("a", 1)
			b, c := a.With("b", 2), a.WithGroup("g").With("c", 3)
			_ = b
			c.Info("x")
		}, `x {"a":1,"g.c":3}`},
		{"too many", func(l *slog.Logger) { l.Info("x", "a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", 6, "g", 7) },
			`x {"a":1,"b":2,"c":3,"d":4,"e":5,"cut":2}`},
		{"far too many", func(l *slog.Logger) {
			l.With("a", 1, "b", 2, "c", 3, "d", 4, "e", 5, "f", 6, "g", 7, "h", 8).Info("x", "i", 9)
		}, `x {"a":1,"b":2,"c":3,"d":4,"e":5,"cut":4}`},
		{"long", func(l *slog.Logger) { l.Info("x", "a", strings.Repeat("y", 1025)) },
			`x {"a":"` + strings.Repeat("y", 1024) + `","a#bytes":1025}`},
	} {
		stop := recording(t)
		test.log(slog.New(scopeslog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			return slog.Attr{} // else next would call the methods
		}})).WithAttrs(nil)))
		if got := strings.Join(stop(), "\n"); got != test.want {
			t.Errorf("%s: recorded %s, want %s", test.about, got, test.want)
		}
	}
}

// quiet is a handler that does not resolve values.
type quiet struct{ slog.Handler }

func (quiet) Handle(context.Context, slog.Record) error { return nil }

// TestRequests: a line logged in a request has its ids outside of all groups, and its event is
// linked to the scope.
func TestRequests(t *testing.T) {
	stop := recording(t)
	var b bytes.Buffer
	in, _ := scope.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	ctx := scope.WithLink(context.Background(), in)
	l := slog.New(scopeslog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	l.InfoContext(ctx, "plain", "a", 1)
	l.With("a", 1).WithGroup("g").With("b", 2).InfoContext(ctx, "grouped", "c", 3)
	l.InfoContext(ctx, "crowded", "a", 1, "b", 2, "c", 3, "d", 4)
	l.Info("no request")
	const ids = "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7"
	want := "level=INFO msg=plain a=1 " + ids + "\n" +
		"level=INFO msg=grouped " + ids + " a=1 g.b=2 g.c=3\n" +
		"level=INFO msg=crowded a=1 b=2 c=3 d=4 " + ids + "\n" +
		"level=INFO msg=\"no request\"\n"
	if b.String() != want {
		t.Errorf("logged\n%swant\n%s", b.String(), want)
	}
	const part = ` of 4bf92f3577b34da6a3ce929d0e0e4736/00f067aa0ba902b7`
	if got, want := stop(), []string{`plain {"a":1}` + part, `grouped {"a":1,"g.b":2,"g.c":3}` + part,
		`crowded {"a":1,"b":2,"c":3,"d":4,"cut":1}`, `no request`}; !slices.Equal(got, want) {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMadeMessages: composed messages do not use up names.
func TestMadeMessages(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("which messages are constants is known on Linux only")
	}
	stop := recording(t)
	l := slog.New(scopeslog.New(quiet{slog.NewTextHandler(io.Discard, nil)}))
	for i := range 100 {
		l.Info(fmt.Sprint("message ", i))
	}
	for _, line := range stop() {
		if !strings.HasPrefix(line, `log.INFO {"msg":"message `) {
			t.Errorf("recorded %s", line)
		}
	}
}

// TestShortTexts: texts of each length up to a word, and beyond, are read back unchanged.
func TestShortTexts(t *testing.T) {
	stop := recording(t)
	l := slog.New(scopeslog.New(slog.NewTextHandler(io.Discard, nil)))
	var want []string
	for n := range 20 {
		text := "0123456789abcdefghij"[:n]
		l.Info("text", "a", text, "n", n)
		want = append(want, fmt.Sprintf(`text {"a":%q,"n":%d}`, text, n))
	}
	if got := stop(); !slices.Equal(got, want) {
		t.Errorf("recorded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOwnIDs: a line with a trace or span id set by the program gets no other.
func TestOwnIDs(t *testing.T) {
	stop := recordtest.Start(t)
	defer stop()
	in, _ := scope.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	ctx := scope.WithLink(context.Background(), in)
	for about, test := range map[string]struct {
		log  func(*slog.Logger)
		ours bool
	}{
		"none":                   {func(l *slog.Logger) { l.InfoContext(ctx, "x", "k", 1) }, true},
		"of the record":          {func(l *slog.Logger) { l.InfoContext(ctx, "x", "trace_id", "own") }, false},
		"a span's":               {func(l *slog.Logger) { l.InfoContext(ctx, "x", "k", 1, "span_id", "own") }, false},
		"of the logger":          {func(l *slog.Logger) { l.With("trace_id", "own").InfoContext(ctx, "x") }, false},
		"before a group":         {func(l *slog.Logger) { l.With("trace_id", "own").WithGroup("g").InfoContext(ctx, "x", "k", 1) }, false},
		"in a group":             {func(l *slog.Logger) { l.WithGroup("g").InfoContext(ctx, "x", "trace_id", "own") }, true},
		"of a logger in a group": {func(l *slog.Logger) { l.WithGroup("g").With("trace_id", "own").InfoContext(ctx, "x") }, true},
		"in a named group":       {func(l *slog.Logger) { l.InfoContext(ctx, "x", slog.Group("g", "trace_id", "own")) }, true},
		"in an unnamed group":    {func(l *slog.Logger) { l.InfoContext(ctx, "x", slog.Group("", "trace_id", "own")) }, false},
	} {
		var b strings.Builder
		test.log(slog.New(scopeslog.New(slog.NewTextHandler(&b, nil))))
		if got := strings.Contains(b.String(), "trace_id=4bf92f3577b34da6a3ce929d0e0e4736 span_id=00f067aa0ba902b7"); got != test.ours || strings.Count(" "+b.String(), " trace_id=") > 1 {
			t.Errorf("%s: the line is %s", about, &b)
		}
	}
}
