package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// asked is a trace with a recorder that only answers requests, as docs/format.md specifies.
type asked struct {
	t      *testing.T
	path   string
	f      *os.File
	answer func(format.Request) format.Answer // Number aside

	mu   sync.Mutex
	seen []format.Request
	quit chan struct{}
	done sync.WaitGroup
}

func newAsked(t *testing.T, lines string, answer func(format.Request) format.Answer) *asked {
	t.Helper()
	a := &asked{t: t, path: filepath.Join(t.TempDir(), "x.scope"), answer: answer, quit: make(chan struct{})}
	tracetest.Write(t, a.path, lines)
	var err error
	if a.f, err = os.OpenFile(a.path, os.O_RDWR, 0); err != nil {
		t.Fatal(err)
	}
	lockTrace(t, a.f)
	t.Cleanup(a.stop)
	if answer != nil {
		quit := a.quit
		a.done.Go(func() { a.run(quit) })
	}
	return a
}

// stop ends the recorder, as if it died.
func (a *asked) stop() {
	if a.quit != nil {
		close(a.quit)
		a.quit = nil
		a.done.Wait()
		a.f.Close()
	}
}

func (a *asked) run(quit <-chan struct{}) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		r, last, err := format.ReadControl(a.f)
		if err != nil || r.Number == last.Number {
			continue
		}
		a.mu.Lock()
		a.seen = append(a.seen, r)
		a.mu.Unlock()
		answer := a.answer(r)
		answer.Number = r.Number
		if err := answer.Store(a.f); err != nil {
			a.t.Error(err)
			return
		}
	}
}

// requests returns the requests received so far.
func (a *asked) requests() []format.Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

const askedLines = "header minor=1 pid=4711 clock=monotonic start=1000\nstate tick=5000\nchunk blocks\nname 2 \"f\"\n"

func TestCtl(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	for _, test := range []struct {
		args []string
		want format.Request
	}{
		{[]string{"on"}, format.Request{Number: 1, Command: format.CommandOn}},
		{[]string{"off"}, format.Request{Number: 1, Command: format.CommandOff}},
		{[]string{"filter", "http.*,-http.health"}, format.Request{Number: 1, Command: format.CommandFilter, Text: "http.*,-http.health"}},
		{[]string{"filter", "--", "-http.health"}, format.Request{Number: 1, Command: format.CommandFilter, Text: "-http.health"}},
		{[]string{"filter", ""}, format.Request{Number: 1, Command: format.CommandFilter}},
		{[]string{"snapshot"}, format.Request{Number: 1, Command: format.CommandSnapshot}},
		{[]string{"snapshot", "sub/../x.scope"}, format.Request{Number: 1, Command: format.CommandSnapshot, Text: filepath.Join(here, "x.scope")}},
		{[]string{"snapshot", "/there/x.scope"}, format.Request{Number: 1, Command: format.CommandSnapshot, Text: "/there/x.scope"}},
	} {
		a := newAsked(t, askedLines, func(format.Request) format.Answer { return format.Answer{Text: "it is \x1b[1mdone"} })
		r := scopeview(append([]string{"ctl", a.path}, test.args...)...)
		if r.code != exitOK || r.out != `it is \x1b[1mdone`+"\n" || r.err != "" {
			t.Errorf("%q: %v", test.args, r)
		}
		if got := a.requests(); len(got) != 1 || got[0] != test.want {
			t.Errorf("%q: the program saw %+v, want %+v", test.args, got, test.want)
		}
		a.stop()
	}
}

// TestCtlFails: each error says why nothing was done, and what can be done about it.
func TestCtlFails(t *testing.T) {
	refuse := func(format.Request) format.Answer {
		return format.Answer{Failed: true, Text: `filter "a,,b": a pattern is empty`}
	}
	t.Run("refused", func(t *testing.T) {
		a := newAsked(t, askedLines, refuse)
		if r := scopeview("ctl", a.path, "filter", "a,,b"); r.code != exitFailed || r.out != "" || !strings.Contains(r.err, "refused") || !strings.Contains(r.err, "a pattern is empty") {
			t.Errorf("%v", r)
		}
	})
	t.Run("too long", func(t *testing.T) {
		a := newAsked(t, askedLines, refuse)
		if r := scopeview("ctl", a.path, "filter", strings.Repeat("x", 1025)); r.code != exitFailed || !strings.Contains(r.err, "1025 bytes of text, at most 1024 fit") {
			t.Errorf("%v", r)
		}
	})
	t.Run("dead", func(t *testing.T) {
		a := newAsked(t, askedLines, nil)
		a.stop()
		if r := scopeview("ctl", a.path, "on"); r.code != exitFailed || !strings.Contains(r.err, "process 4711, which wrote it, has ended") || !strings.Contains(r.err, "scopeview snapshot") {
			t.Errorf("%v", r)
		}
	})
	t.Run("dies", func(t *testing.T) {
		a := newAsked(t, askedLines, nil)
		time.AfterFunc(50*time.Millisecond, func() { a.f.Close() })
		if r := scopeview("ctl", a.path, "on"); r.code != exitFailed || !strings.Contains(r.err, "ended before it answered") {
			t.Errorf("%v", r)
		}
	})
	t.Run("closed", func(t *testing.T) {
		a := newAsked(t, strings.Replace(askedLines, "state ", "state closed=1 ", 1), nil)
		if r := scopeview("ctl", a.path, "on"); r.code != exitFailed || !strings.Contains(r.err, "this recording has ended") {
			t.Errorf("%v", r)
		}
	})
	t.Run("old", func(t *testing.T) {
		a := newAsked(t, strings.Replace(askedLines, "minor=1", "minor=0", 1), nil)
		if r := scopeview("ctl", a.path, "on"); r.code != exitFailed || !strings.Contains(r.err, "build it with a newer one") {
			t.Errorf("%v", r)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		a := newAsked(t, askedLines, nil)
		if r := scopeview("ctl", a.path, "on", "--timeout", "60ms"); r.code != exitFailed || !strings.Contains(r.err, "no answer within 60ms") || !strings.Contains(r.err, "--timeout") {
			t.Errorf("%v", r)
		}
		// The request remains, and blocks other requests.
		if r := scopeview("ctl", a.path, "off", "--timeout", "60ms"); r.code != exitFailed || !strings.Contains(r.err, "an earlier request (on) was not answered") {
			t.Errorf("%v", r)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		a := newAsked(t, askedLines, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if r := scopeviewOn(ctx, false, "ctl", a.path, "on"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") {
			t.Errorf("%v", r)
		}
	})
	t.Run("no trace", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.scope")
		filetest.Write(t, path, []byte("hello"))
		if r := scopeview("ctl", path, "on"); r.code != exitFailed || !strings.Contains(r.err, "no program answers requests for this trace") {
			t.Errorf("%v", r)
		}
	})
}

func TestCtlUsage(t *testing.T) {
	for args, want := range map[string]string{
		"":                   "needs a TRACE and a request",
		"x.scope":            "needs a TRACE and a request",
		"x.scope explode":    `no request "explode"`,
		"x.scope on now":     `takes no "now"`,
		"x.scope filter":     "needs a filter",
		"x.scope filter -a":  "needs a -- before it",
		"x.scope filter a b": `takes no "b"; quote`,
	} {
		if r := scopeview(append([]string{"ctl"}, strings.Fields(args)...)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("ctl %s: %v", args, r)
		}
	}
	for args, want := range map[string]string{
		"__complete ctl ": "scope\nscopez\n:8\n", "__complete ctl x.scope ": "snapshot\trequest a snapshot", "__complete ctl x.scope snapshot ": ":0\n",
		"__complete snapshot ": "scope\nscopez\n:8\n",
	} {
		if r := scopeview(strings.Split(args, " ")...); !strings.Contains(r.out, want) {
			t.Errorf("%s: %q, want %q in it", args, r.out, want)
		}
	}
}

// TestCtlTogether: several processes send requests at once, and their texts are not mixed.
func TestCtlTogether(t *testing.T) {
	if !locksRanges {
		t.Skip("there are no locks of parts of a file here that two in one process would see")
	}
	a := newAsked(t, askedLines, func(r format.Request) format.Answer {
		return format.Answer{Text: r.Text}
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 1000-100*i)
			for range 5 {
				if r := scopeview("ctl", a.path, "filter", text, "--timeout", "30s"); r.code != exitOK || r.out != text+"\n" {
					t.Errorf("%v", r)
				}
			}
		})
	}
	all.Wait()
	if n := len(a.requests()); n != 40 {
		t.Errorf("%d requests were seen, not 40", n)
	}
}
