// Package uitest tests the timeline page in a browser.
package uitest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

// What the tests share. Starting a browser takes a second, a page in it a tenth.
var (
	chromium *browser.Browser // nil where there is none
	cmd      tool.Tool
	dir      string   // for traces and pages
	atEnd    []func() // what ends what the tests have started
)

func TestMain(m *testing.M) {
	traces.Main()
	flag.Parse()
	os.Exit(shmtest.Run(func() int {
		code, err := setUp(m)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		return code
	}))
}

func setUp(m *testing.M) (code int, err error) {
	if dir, err = os.MkdirTemp("", "scopeview-uitest-"); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if cmd, err = tool.Build(dir, "./cmd/scopeview"); err != nil {
		return 0, err
	}
	defer func() {
		for _, end := range atEnd {
			end()
		}
	}()
	if chromium, err = browser.Start(); err == nil {
		atEnd = append(atEnd, chromium.Close)
	} else if !errors.Is(err, browser.ErrMissing) {
		return 0, err
	}
	return m.Run(), nil
}

// pathOf is a path for a file of the test.
func pathOf(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(t.TempDir(), name)
}
