package scopevet

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// The packages in testdata have what must be reported and what must not. Their
// package scope is a stub: cmd/scopeview tests with the real one.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "verbs", "unended", "wrapper", "wrapped",
		"github.com/scopeview/scopeview/scope")
}

func TestFixes(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), Analyzer, "dropped")
}
