//go:build unix

package excerpt

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestGrowing: a trace that is being written is copied first, and that copy is removed.
func TestGrowing(t *testing.T) {
	dir := t.TempDir()
	src := filepath.Join(dir, "src.scope")
	tracetest.Write(t, src, strings.NewReplacer("closed=1 ", "", "stop ticks=9000\n", "").Replace(openScope))
	writer, err := os.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := syscall.Flock(int(writer.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	f, err := hot.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	refreshed := 0
	path := filepath.Join(dir, "part.scope")
	res, err := Create(t.Context(), path, f, Options{From: 2000, To: 3000, Refresh: func() error { refreshed++; return nil }})
	if err != nil || res.Records != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	left(t, dir, "part.scope", "src.scope")
	if bad := found(t, path); len(bad) > 0 {
		t.Errorf("%q", bad)
	}
}
