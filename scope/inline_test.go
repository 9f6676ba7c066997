//go:build !scope_off && !scope_pure && !race && linux && amd64

package scope

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// user is a program that makes every call, one per line. Each except Go and End
// must be inlined, and no argument may escape.
const user = `package user

import (
	"context"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

type number float32

func user(ctx context.Context, n int, s string, d time.Duration, mu *sync.Mutex, f func()) {
	defer scope.Task("a")()
	defer scope.Task("a", n, n+1)()
	defer scope.Task("a", n, s, scope.KV("k", n))()
	defer scope.Taskf("a %d %v", n, d)()
	defer scope.Process("a", s)()
	defer scope.Pending("a", n)()
	span := scope.Begin("a", n, s)
	span.End()
	span.End(n, scope.KV("k", s))
	scope.Event("a", scope.KV("k", d))
	scope.Counter("a", n)
	scope.Counter("a", number(n))
	scope.Track(s)
	scope.Stack("a", int64(n))
	if scope.Enabled() {
		return
	}
	ctx, linked := scope.Context(ctx, "a", n, s)
	linked.End(n)
	defer scope.Task("a", scope.Link{Trace: [16]byte{1}})()
	defer scope.Lock(mu, "a")()
	scope.Go("a", f)
}
`

// TestCallsAreInlined checks the compiler's inlining and escape decisions. An
// overlay places the program inside the module.
func TestCallsAreInlined(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	dir := t.TempDir()
	src, overlay := filepath.Join(dir, "user.go"), filepath.Join(dir, "overlay.json")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	virtual := filepath.Join(here, "inlined", "user.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{virtual: src}})
	if err = errors.Join(err, os.WriteFile(src, []byte(user), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(goTool, "build", "-overlay", overlay, "-gcflags=-m=2", "./inlined").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said := map[string]string{} // the compiler's remarks by line of user
	for _, m := range regexp.MustCompile(`(?m)^\S*user\.go:(\d+):\d+: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		said[m[1]] += m[2] + "\n"
	}
	calls := regexp.MustCompile(`scope\.(\w+)\(|span\.(End)\(`)
	checked := 0
	for i, line := range strings.Split(user, "\n") {
		here := said[strconv.Itoa(i+1)]
		for _, m := range calls.FindAllStringSubmatch(line, -1) {
			name := m[1] + m[2]
			checked++
			if m[2] != "" {
				name = "Span.End"
			}
			if !strings.Contains(here, "inlining call to scope."+name) && name != "Span.End" && name != "Go" {
				t.Errorf("line %d, %s is not inlined:\n%s%s", i+1, name, line, here)
			}
		}
		if strings.Contains(here, "escapes to heap") || strings.Contains(here, "moved to heap") {
			t.Errorf("line %d, something escapes:\n%s\n%s", i+1, line, here)
		}
		if strings.Contains(line, "n, s") && !strings.Contains(here, "... argument does not escape") {
			t.Errorf("line %d, the compiler does not say that the arguments stay:\n%s\n%s", i+1, line, here)
		}
	}
	if checked < 20 {
		t.Errorf("%d calls were looked at", checked)
	}
}
