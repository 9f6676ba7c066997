package trace_test

import (
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
)

// TestRulesDocumented checks that docs/format.md lists Verify's rules.
func TestRulesDocumented(t *testing.T) {
	b, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range trace.Rules {
		if want := "\n| " + r.Name + " | " + r.Doc + " |\n"; !strings.Contains(string(b), want) {
			t.Errorf("docs/format.md does not have %q", want)
		}
	}
}
