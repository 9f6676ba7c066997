// Package long marks tests that take too long for each commit.
package long

import (
	"os"
	"testing"
)

// All reports whether long tests run: make test-all sets SCOPEVIEW_TEST=all.
func All() bool { return os.Getenv("SCOPEVIEW_TEST") == "all" }

// Skip skips the test unless long tests run. The reason is a clause: what the test does that takes
// long.
func Skip(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skip(why + ": make test-all runs it")
	}
}
