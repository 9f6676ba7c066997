package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestRecorderLeavesNetAlone: the recorder must not add an import of net to a program. With
// cgo the program would need libc, and a deadlock of all goroutines would not end it.
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

// TestRecorderBegins: the recorder's packages allocate little before main, even without
// recording, as each of Go's collections marks it.
func TestRecorderBegins(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool")
	}
	dir, err := opened(t).recorder(goCommand(context.Background(), ""))
	if err != nil {
		t.Fatal(err)
	}
	tmp := t.TempDir()
	put := func(name, text string) string {
		name = filepath.Join(tmp, name)
		filetest.Write(t, name, []byte(text))
		return name
	}
	main := put("main.go", "package main\n\nimport _ \""+Hooks+"\"\n\nfunc main() {}\n")
	overlay := put("overlay.json", fmt.Sprintf(`{"Replace": {%q: %q}}`, filepath.Join(dir, "begins", "main.go"), main))
	program := filepath.Join(tmp, "program")
	cmd := goCommand(context.Background(), dir, "build", "-overlay", overlay, "-o", program, "./begins")
	cmd.Env = append(cmd.Env, "GOWORK=off", "GOFLAGS=-mod=mod")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd = exec.Command(program)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := 0
	for _, m := range regexp.MustCompile(`(?m)^init `+Module+`/.* (\d+) bytes`).FindAllSubmatch(out, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		all += n
	}
	// 10 kB are a table of checksums, without pointers to mark.
	if all == 0 || all > 20_000 {
		t.Errorf("the recorder's packages have %d bytes, want some, and at most 20,000:\n%s", all, out)
	}
}
