package build

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestRecorderLeavesNetAlone: a program that does not import net is not to import it for our sake.
// With cgo on it would need libc, and a deadlock of all goroutines would not end it.
func TestRecorderLeavesNetAlone(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	dir, err := opened(t).recorder(goCommand(context.Background(), ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, goos := range []string{"linux", "darwin"} {
		cmd := goCommand(context.Background(), dir, "list", "-deps", "./scope/hooks")
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", goos, err, out)
		}
		packages := strings.Fields(string(out))
		if !slices.Contains(packages, Hooks) || slices.Contains(packages, "net") || slices.Contains(packages, "runtime/cgo") {
			t.Errorf("%s: the recorder needs %v", goos, packages)
		}
	}
}
