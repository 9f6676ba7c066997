package traces

import (
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(shmtest.Run(m.Run))
}
