package traces

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// HostileNames are names that would run a script, close an element, end a string
// or confuse a decoder in a page that takes data for markup. A script of theirs
// would set window.__pwned.
func HostileNames() []string {
	const script = "window.__pwned=1"
	payloads := []string{
		"<script>" + script + "</script>", "</script><script>" + script + "</script>", "</SCRIPT ><SCRIPT>" + script + "</SCRIPT>",
		"<!--<script>" + script + "</script>-->", "--><script>" + script + "</script>", "]]><script>" + script + "</script>",
		"<img src=x onerror=" + script + ">", "\"><img src=x onerror=" + script + ">", "'><img src=x onerror=" + script + ">",
		"<svg onload=" + script + ">", "<svg><script>" + script + "</script></svg>", "<iframe src=\"javascript:" + script + "\"></iframe>",
		"<iframe srcdoc=\"<script>parent." + script + "</script>\">", "<body onload=" + script + ">", "<details open ontoggle=" + script + ">",
		"<a href=\"javascript:" + script + "\">x</a>", "javascript:" + script, "data:text/html,<script>" + script + "</script>",
		"\" autofocus onfocus=" + script + " x=\"", "' onmouseover='" + script, "` onclick=`" + script,
		"</style><script>" + script + "</script>", "</title><script>" + script + "</script>", "</textarea><script>" + script + "</script>",
		"</canvas><script>" + script + "</script>", "<base href=//evil.example/>", "<meta http-equiv=refresh content=0;url=//evil.example>",
		"<link rel=stylesheet href=//evil.example/x.css>", "<form action=//evil.example><input name=x autofocus>", "<object data=//evil.example>",
		"${" + script + "}", "{{constructor.constructor('" + script + "')()}}", "\\u003cscript\\u003e" + script, "&lt;script&gt;" + script, "&#60;script&#62;",
		"');" + script + ";//", "\";" + script + ";//", "\\\";" + script + ";//", "*/" + script + "/*", "\u2028" + script, "\u2029" + script, "\x00" + script,
		"\xed\xa0\x80" + script, "\xed\xb0\x80<script>", "\xff\xfe<script>" + script, "\xc0\xbcscript>" + script, "\ufeff<script>" + script,
		"__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "__defineGetter__", "valueOf", "then",
		"NaN", "null", "undefined", "true", "-0", "1e999", "",
		" ", "\t", "\n", "\r\n", "\u202eright to left", "\u200b", "a\u0300\u0301\u0302\u0303", "👩‍👩‍👧‍👦", strings.Repeat("W", 1000), strings.Repeat("<b>", 300),
		"expression(" + script + ")", "url(javascript:" + script + ")", "}body{display:none", "@import '//evil.example'", "=cmd|' /C calc'!A0", "+1", "@SUM(A1)",
	}
	frames := []string{"%s", "ok %s", "%s ok", "<b title='%s'>", "<!-- %s"}
	var names []string
	for _, frame := range frames {
		for _, p := range payloads {
			if len(names) == 200 {
				return names
			}
			names = append(names, fmt.Sprintf(frame, p))
		}
	}
	return names
}

// hostile uses each of the names in every place where a name can be.
func hostile(int) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for i, name := range HostileNames() {
		if i%20 == 0 {
			done.Wait()
		}
		done.Add(1)
		scope.Go(name, func() {
			defer done.Done()
			defer scope.Task(name, scope.KV(name, name), name)()
			defer scope.Lock(&mu, name)()
			scope.Event(name, name)
			scope.Counter(name, i)
			time.Sleep(100 * time.Microsecond)
		})
	}
	done.Wait()
}
