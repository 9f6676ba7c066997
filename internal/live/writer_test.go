//go:build linux || darwin

package live

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// newLive returns a trace without records whose writer lives until the test ends. What a
// test does to it kills no process.
func newLive(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "live.scope")
	startedAt(t, path, 100)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Skip("no locks here: ", err)
	}
	return path
}

func decode(t *testing.T, r *http.Response, v any) {
	t.Helper()
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", r.Status, body(t, r))
	}
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		t.Fatal(err)
	}
}
