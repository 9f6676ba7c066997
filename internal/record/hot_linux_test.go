//go:build !scope_off

package record_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	. "github.com/scopeview/scopeview/scope"
)

// TestOverwriteHotFile: overwriting a trace removes its hot file, which takes
// memory and would never be read again.
func TestOverwriteHotFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := Start(path); err != nil {
		t.Fatal(err)
	}
	finish(t)
	h, _ := headerOf(t, path)
	left := filepath.Join(hot.Dir, format.HotName(h.ID))
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Skip("there is no tmpfs: ", err)
	}
	t.Cleanup(func() { os.Remove(left) })
	if err := Start(path, WithOverwrite()); err != nil {
		t.Fatal(err)
	}
	finish(t)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the hot file is there: %v", err)
	}
}
