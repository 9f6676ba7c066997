package verify

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestVerify: findings are printed one per line, safe to print, and counted; without any the file
// is sound.
func TestVerify(t *testing.T) {
	for _, c := range []struct {
		findings   []trace.Finding
		text, json string
	}{
		{nil, "a.scope: sound\n", `"findings":[]`},
		{[]trace.Finding{{Offset: 64, Rule: "ext-form", Text: "bad \x1b[31m"}, {Offset: 96, Rule: "zero", Text: "odd"}},
			"a.scope: at offset 64: ext-form: bad \\x1b[31m\na.scope: at offset 96: zero: odd\na.scope: 2 findings\n",
			`"findings":[{"offset":64,"rule":"ext-form","text":"bad\u001b[31m"},{"offset":96,"rule":"zero","text":"odd"}]`},
	} {
		r := Of("a.scope", c.findings)
		var text report.Text
		r.Text(&text)
		if text.String() != c.text {
			t.Errorf("%q, want\n%q", text.String(), c.text)
		}
		var doc strings.Builder
		if err := report.WriteJSON(&doc, "verify", r.Document, 0); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(doc.String()), ""); got != `{"schema":"scopeview.verify/1",`+c.json+"}" {
			t.Errorf("%s, want\n%s", got, c.json)
		}
	}
}
