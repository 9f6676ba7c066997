package std

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestMemoryHooks: the functions that the compiler calls exist, and the hooks are possible,
// alone and together with all others, in this version of Go and in the next, if that is
// installed; no line moves. Without the hooks the functions do not exist.
func TestMemoryHooks(t *testing.T) {
	roots := map[string]string{runtime.Version(): gorootOf(t)}
	next := &builder{ctx: context.Background(), tool: "go", environ: append(os.Environ(), "GOTOOLCHAIN=go1.27.4", "GOPROXY=off")}
	if root, err := next.env("GOROOT"); err == nil {
		roots["go1.27.4"] = root
	}
	calls := [][]byte{[]byte("func raceread("), []byte("func racewrite("), []byte("func racereadrange("), []byte("func racewriterange("), []byte("func racefuncenter("), []byte("func racefuncexit(")}
	for version, root := range roots {
		for _, groups := range [][]string{{Memory}, append([]string{Memory}, Groups...), Groups} {
			files, _, hooks, err := Patches(root, version, groups, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hooks {
				if !h.OK {
					t.Errorf("%s: %s: %s", version, h.Name, h.Why)
				}
			}
			for _, call := range calls {
				in := bytes.Contains(files["src/runtime/scopeview.go"], call) || bytes.Contains(files["src/runtime/scopeview_access.go"], call) && bytes.Contains(files["src/runtime/scopeview_access_amd64.go"], call)
				if in != (groups[0] == Memory) {
					t.Errorf("%s: %s) for %q", version, call, groups)
				}
			}
			for p, text := range files {
				was, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
				if err == nil && bytes.Count(was, []byte("\n")) != bytes.Count(text, []byte("\n")) {
					t.Errorf("%s: lines of %s have moved", version, p)
				}
			}
		}
	}
}
