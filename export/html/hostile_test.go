package html

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/tracetest"
)

// payloads are names that want to be more than names.
func payloads() []string {
	seeds := []string{
		`</script><script>alert(1)</script>`, `</SCRIPT >`, `<!--<script>`, `<!--`, `-->`, `]]>`, `<![CDATA[`,
		`<script src=//evil.example/x.js></script>`, `<img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`,
		`" onmouseover="alert(1)`, `' autofocus onfocus='alert(1)`, `javascript:alert(1)`, `data:text/html,<script>alert(1)</script>`,
		`</style><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `</textarea><script>`, `<base href=//evil.example>`,
		`<meta http-equiv=refresh content=0>`, "{{constructor.constructor('alert(1)')()}}", "${alert(1)}", "`${alert(1)}`",
		"\u2028alert(1)", "\u2029alert(1)", "a\x00b", "\x00</script>", "\xed\xa0\x80", "\xed\xb0\x80</script>", "\xff\xfe", "\xc0\xbc/script\xc0\xbe",
		"__proto__", "constructor", "toString", "hasOwnProperty", `\`, `\"`, `\u003cscript\u003e`, "\r\n\r\n<script>", "\t", "",
		"\u202eevil\u202c", "\ufeff<script>", `<iframe srcdoc="<script>alert(1)</script>">`, `<a href="javascript:alert(1)">x</a>`,
		`*/alert(1)/*`, `//`, `;alert(1);`, `');alert(1);//`, `<x id="data">`, `<plaintext>`,
	}
	var all []string
	for _, s := range seeds {
		all = append(all, s, "x"+s, strings.ToUpper(s), s+strings.Repeat("A", 300))
	}
	return all
}

func quote(s string) string { return strconv.Quote(s) }

// Whatever the names, keys, arguments, rows and facts of a trace say, the page
// has our own script and nothing else that runs, and says what they say.
func TestHostileNames(t *testing.T) {
	list := payloads()
	if len(list) < 200 {
		t.Fatalf("%d payloads", len(list))
	}
	var script strings.Builder
	script.WriteString("header chunk=65536 clock=monotonic start=1000 mono=1000\nstate closed=1 tick=900000\nchunk blocks\n")
	for i, p := range list {
		fmt.Fprintf(&script, "name %d %s\n", i+2, quote(p))
	}
	for _, p := range list[:40] {
		fmt.Fprintf(&script, "note ticks=2000 %s\ninfo \"program\" %s\n", quote(p), quote(p))
	}
	script.WriteString("stop ticks=900000\nchunk records\n")
	for i, p := range list {
		if i%40 == 39 {
			script.WriteString("chunk records\n")
		}
		fmt.Fprintf(&script, "track #%d g=%d start=%d\n", i+2, i+1, 2000+3*i)
		fmt.Fprintf(&script, "task #%d g=%d start=%d stop=800000 cpu=0/unknown | string:%s key:#%d string:%s\n",
			i+2, i+1, 2001+3*i, quote(p), i+2, quote(p))
		fmt.Fprintf(&script, "counter #%d g=%d start=%d value=int:1\n", i+2, i+1, 2002+3*i)
	}
	page := written(t, tracetest.OpenText(t, script.String()), Options{Path: `</title><script>alert(1)</script>.scope`})

	var clean strings.Builder
	if err := write(&clean, Config{Home: HomeFile}, nil, level); err != nil {
		t.Fatal(err)
	}
	shape := func(page string) (list []string) {
		for _, e := range elements(t, page) {
			if e.name != "script" || !strings.Contains(e.attrs, `id="data"`) {
				list = append(list, e.name+" "+e.attrs)
			}
		}
		return slices.DeleteFunc(list, func(s string) bool { return s == "/script " })
	}
	if got, want := shape(page), shape(clean.String()); !slices.Equal(got, want) {
		t.Errorf("the page's elements are\n%q\nwant\n%q", got, want)
	}
	h := dataOf(t, page)
	for i, p := range list {
		if got, want := h.Meta.Names[i+2], valid(p); got != want {
			t.Errorf("name %d is %q, want %q", i+2, got, want)
		}
	}
	if len(h.Tile.Rows) != len(list) || h.counts["name"] != len(list) {
		t.Fatalf("%d rows, %d scopes, want %d", len(h.Tile.Rows), h.counts["name"], len(list))
	}
	for i, r := range h.Tile.Rows {
		if r != [2]uint64{uint64(i + 1), uint64(i + 2)} {
			t.Errorf("row %d is %v", i, r)
		}
	}
	for _, s := range h.Tile.Strings {
		if !utf8.ValidString(s) {
			t.Errorf("arguments %q", s)
		}
	}
}

// valid is what is left of a name: each byte that is no UTF-8 is U+FFFD.
func valid(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}

// The page runs, and may load, what its policy names and nothing else.
func TestPolicy(t *testing.T) {
	for home, connect := range map[string]string{HomeFile: "'none'", HomeLive: "'self'"} {
		var b strings.Builder
		if err := Page(&b, Config{Home: home, Base: "/t/</script>0/"}); err != nil {
			t.Fatal(err)
		}
		var policy string
		var running, styles []string
		before := true
		for _, e := range elements(t, b.String()) {
			switch e.name {
			case "meta":
				if strings.Contains(e.attrs, "Content-Security-Policy") {
					policy = e.attrs
				}
			case "script":
				if strings.Contains(e.attrs, `type="module"`) {
					running = append(running, hash(e.content))
				} else if !strings.Contains(e.attrs, `id="config" type="application/json"`) {
					t.Errorf("script %q", e.attrs)
				}
				before = before && policy != ""
			case "style":
				styles = append(styles, hash(e.content))
				before = before && policy != ""
			}
		}
		if len(running) != 1 || len(styles) != 1 || !before {
			t.Fatalf("%d scripts, %d styles, policy first: %v", len(running), len(styles), before)
		}
		for _, want := range []string{"default-src 'none'", "script-src " + running[0] + ";", "style-src " + styles[0] + ";", "connect-src " + connect + ";", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", home, policy, want)
			}
		}
	}
}
