package std

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// patched calls f with the hooks of groups that are wanted, for this version of Go and for the
// next, if that is installed. No line of a patched file moves.
func patched(t *testing.T, groups []string, want func(string) bool, f func(version string, files map[string][]byte, hooks []Status)) {
	t.Helper()
	roots := map[string]string{runtime.Version(): gorootOf(t)}
	next := &builder{ctx: context.Background(), tool: "go", environ: append(os.Environ(), "GOTOOLCHAIN=go1.27.4", "GOPROXY=off")}
	if root, err := next.env("GOROOT"); err == nil {
		roots["go1.27.4"] = root
	}
	for version, root := range roots {
		files, _, hooks, err := Patches(root, version, groups, want)
		if err != nil {
			t.Fatal(err)
		}
		for p, text := range files {
			was, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
			if err == nil && bytes.Count(was, []byte("\n")) != bytes.Count(text, []byte("\n")) {
				t.Errorf("%s: lines of %s have moved", version, p)
			}
		}
		f(version, files, hooks)
	}
}

// TestThreadHooks: the hooks are possible, together with all others and alone.
func TestThreadHooks(t *testing.T) {
	alone := func(name string) bool {
		return slices.ContainsFunc(threadTable, func(h hook) bool { return h.name == name })
	}
	for _, want := range []func(string) bool{nil, alone} {
		patched(t, []string{Multithreaded}, want, func(version string, _ map[string][]byte, hooks []Status) {
			for _, h := range hooks {
				if alone(h.Name) && !h.OK {
					t.Errorf("%s: %s: %s", version, h.Name, h.Why)
				}
			}
		})
	}
}

// TestMemoryHooks: the functions that the compiler calls exist, and the hooks are possible,
// alone and together with all others. Without the hooks the functions do not exist.
func TestMemoryHooks(t *testing.T) {
	calls := [][]byte{[]byte("func raceread("), []byte("func racewrite("), []byte("func racereadrange("), []byte("func racewriterange("), []byte("func racefuncenter("), []byte("func racefuncexit(")}
	for _, groups := range [][]string{{Memory}, append([]string{Memory}, Groups...), Groups} {
		patched(t, groups, nil, func(version string, files map[string][]byte, hooks []Status) {
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
		})
	}
}
