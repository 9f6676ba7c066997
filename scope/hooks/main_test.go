//go:build !scope_off

package hooks_test

import (
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

// TestMain makes the test binary the recorded program if a test asks for it.
func TestMain(m *testing.M) {
	if what := os.Getenv("HOOKS_CHILD"); what != "" {
		child(what)
		return
	}
	os.Exit(shmtest.Run(m.Run))
}
