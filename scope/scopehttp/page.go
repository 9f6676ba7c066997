package scopehttp

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

//go:embed page.css
var style string

// policy allows the page its style and its forms, and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

func (h *handler) index(w http.ResponseWriter, _ *http.Request) error { return h.page(w, "") }

// page writes the page, with said, the result of the last action, on top. It
// does not use html/template, which would keep the linker from dropping unused
// methods.
func (h *handler) page(w http.ResponseWriter, said string) error {
	s := scope.Stats()
	var b strings.Builder
	text := html.EscapeString
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>scopeview: %s</title>\n<style>%s</style>\n", text(program()), style)
	fmt.Fprintf(&b, "<h1>scopeview: %s</h1>\n", text(program()))
	if said != "" {
		fmt.Fprintf(&b, "<p class=\"said\" role=\"status\">%s</p>\n", text(said))
	}
	row := func(name, class, value string) {
		if value != "" {
			fmt.Fprintf(&b, "<tr><th scope=\"row\">%s</th><td class=\"%s\">%s</td></tr>\n", name, class, text(value))
		}
	}
	b.WriteString("<table>\n")
	row("state", "", state(&s))
	row("lost", "bad", losses(&s))
	if s.LastError != nil {
		row("last error", "bad", s.LastError.Error())
	}
	if s.Path != "" {
		row("trace", "", s.Path)
		row("recorded", "", thousands(s.Recorded)+" records")
		if s.Overwritten > 0 {
			row("overwritten", "", thousands(s.Overwritten)+" older records, by newer ones")
		}
		row("filter", "", s.Filter)
		row("recorder", "", s.Recorder)
	}
	b.WriteString("</table>\n")
	if s.Path != "" {
		b.WriteString("<p><a href=\"download\" download>Download the trace</a> · <a href=\"status\">status as JSON</a></p>\n")
	}
	if s.Running {
		to, what := "off", "Record nothing until it is switched on"
		if s.Off {
			to, what = "on", "Switch it on"
		}
		fmt.Fprintf(&b, whileRunning, to, what)
	} else {
		b.WriteString("<h2>Start a recording</h2>\n<form method=\"post\" action=\"start\">\n<label>Directory <select name=\"path\">")
		for _, d := range h.dirs {
			fmt.Fprintf(&b, "<option>%s</option>", text(d))
		}
		b.WriteString("</select></label>\n" + toStart)
	}
	w.Header().Set("Content-Security-Policy", policy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
	return nil
}

const (
	whileRunning = `<h2>Choose by name what is recorded from now on</h2>
<form method="post" action="filter">
<label>Globs with commas between them; empty: everything <input name="expr" size="40" placeholder="store.*,-store.mu"></label>
<button>Filter</button>
</form>
<h2>Keep it, or end it</h2>
<form method="post" action="snapshot"><button>Write a snapshot beside the trace</button></form>
<form method="post" action="%s"><button>%s</button></form>
<form method="post" action="stop"><button>Stop the recording, and close its trace</button></form>
`
	toStart = `<label>Keep only the last bytes <input name="ring" size="8" placeholder="256M"></label>
<label>Grow to at most <input name="limit" size="8" placeholder="1G"></label>
<label>Only these names <input name="filter" size="24" placeholder="store.*,-store.mu"></label>
<button>Start</button>
</form>
`
)

func state(s *scope.Statistics) string {
	switch {
	case s.Running && s.Off:
		return "switched off: nothing is recorded until it is switched on"
	case s.Running:
		return "recording"
	case s.Path != "":
		return "stopped"
	}
	return "nothing was recorded yet"
}

// losses lists what was lost, by reason; "" if nothing was.
func losses(s *scope.Statistics) string {
	l := s.Lost
	var parts []string
	for _, why := range []struct {
		n    int64
		what string
	}{
		{l.Window, "no room was prepared in time: record less, by a filter"},
		{l.Buffer, "the buffer was full: enlarge it, by WithBuffer, or record less, by a filter"},
		{l.Limit, "beyond the limit: WithLimit, WithRing"},
		{l.Space, "the file system was nearly full, or a quota or a limit of file sizes or of memory nearly reached: make room"},
		{l.IO, "the file could not be written, or not in time, or its memory not be mapped: see the last error"},
		{l.Busy, "the goroutine was moved to another processor each time"},
		{l.Stop, "begun while the recording stopped"},
		{l.Stacks, "calls of Stack, faster than they could be counted"},
		{l.Ends, "ends of scopes that show as open"},
		{l.Opens, "open scopes whose begin was overwritten, more than the ring keeps: enlarge it, by WithRing"},
	} {
		if why.n > 0 {
			parts = append(parts, thousands(why.n)+" ("+why.what+")")
		}
	}
	if l.Unknown {
		parts = append(parts, "an unknown number more: the counters in the trace were changed from outside")
	}
	return strings.Join(parts, ", ")
}

// thousands formats a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
