//go:build !scope_off && !scope_pure && !race && linux && amd64

package hooks_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// user is an instrumented package. The calls must be inlined, and no argument may escape.
const user = `package user

import _scopeview "github.com/scopeview/scopeview/scope/hooks"

var _scopeview_f = [...]_scopeview.Func{{Name: "user.plain"}, {Name: "user.args"}, {Name: "user.named"}}

func plain() { if h := _scopeview_f[0].Enter(); h.Loc != 0 { defer h.End() }; work() }

func args(n int, s string) { if h := _scopeview_f[1].EnterArgs(n, s); h.Loc != 0 { defer h.End() }; work() }

func named(n int, s string) { if h := _scopeview_f[2].EnterArgs(_scopeview.KV("n", n), _scopeview.KV("s", s)); h.Loc != 0 { defer h.End() }; work() }

//go:noinline
func work() {}
`

// TestCallsAreInlined checks the compiler's inlining and escape decisions. An overlay
// places the package inside the module.
func TestCallsAreInlined(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for name, text := range map[string]string{"user.go": user} {
		src := filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(src, []byte(text), 0o600))
		files[filepath.Join(here, "inlined", name)] = src
	}
	overlay := filepath.Join(dir, "overlay.json")
	replace, encoding := json.Marshal(map[string]any{"Replace": files})
	if err = errors.Join(err, encoding, os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(goTool, "build", "-overlay", overlay, "-gcflags=-m=2", "./inlined").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := strings.Join(regexp.MustCompile(`(?m)^\S*user\.go:.*$`).FindAllString(string(out), -1), "\n")
	for _, want := range []string{"inlining call to hooks.(*Func).Enter", "inlining call to hooks.(*Func).EnterArgs", "... argument does not escape"} {
		if !strings.Contains(said, want) {
			t.Errorf("the compiler does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "escapes to heap") || strings.Contains(said, "moved to heap") {
		t.Errorf("something escapes:\n%s", said)
	}
}
