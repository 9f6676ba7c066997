package scopetest

import (
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestMain runs the tests and, in the children that they start, is a user's TestMain.
func TestMain(m *testing.M) {
	if os.Getenv("SCOPETEST_CHILD") != "" {
		Main(m, gotrace.With())
		return
	}
	os.Exit(shmtest.Run(m.Run))
}

// TestChild is the test that a child runs.
func TestChild(t *testing.T) {
	end := os.Getenv("SCOPETEST_CHILD")
	if end == "" {
		t.Skip("others start it")
	}
	Run(t)
	t.Run("passes", func(t *testing.T) {
		Run(t)
		Parallel(t)
	})
	t.Run("skips", func(t *testing.T) {
		_, span := scope.Context(Run(t), "part")
		defer span.End()
		t.Skip("as it should")
	})
	t.Run("ends", func(t *testing.T) {
		Run(t)
		switch end {
		case "fail":
			t.FailNow()
		case "panic":
			panic("as it should")
		case "exit":
			os.Exit(3)
		}
	})
}
