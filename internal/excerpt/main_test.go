package excerpt_test

import (
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

func TestMain(m *testing.M) { os.Exit(shmtest.Run(m.Run)) }
