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

// TestThreadHooks: the hooks are possible, together with all others and alone, in this
// version of Go and in the next, if that is installed; and no line moves.
func TestThreadHooks(t *testing.T) {
	roots := map[string]string{runtime.Version(): gorootOf(t)}
	next := &builder{ctx: context.Background(), tool: "go", environ: append(os.Environ(), "GOTOOLCHAIN=go1.27.4", "GOPROXY=off")}
	if root, err := next.env("GOROOT"); err == nil {
		roots["go1.27.4"] = root
	}
	alone := func(name string) bool {
		return slices.ContainsFunc(threadTable, func(h hook) bool { return h.name == name })
	}
	for version, root := range roots {
		for _, want := range []func(string) bool{nil, alone} {
			files, _, hooks, err := Patches(root, version, []string{Multithreaded}, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hooks {
				if alone(h.Name) && !h.OK {
					t.Errorf("%s: %s: %s", version, h.Name, h.Why)
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
