package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/hostmod"
)

// planted changes to the module with planted mistakes, and lists the lines that have one.
func planted(t *testing.T) (lines []int) {
	t.Helper()
	program := filetest.Read(t, "testdata/vet/main.go")
	for i, line := range strings.Split(string(program), "\n") {
		if strings.HasSuffix(line, "// mistake") {
			lines = append(lines, i+1)
		}
	}
	dir := t.TempDir()
	hostmod.Complete(t, dir)
	t.Chdir(dir)
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	filetest.Write(t, "main.go", program)
	return lines
}

var finding = regexp.MustCompile(`(?m)^(?:\./)?main\.go:(\d+):\d+: .+$`)

// found lists the lines in vet's messages.
func found(t *testing.T, messages string) (lines []int) {
	t.Helper()
	for _, m := range finding.FindAllStringSubmatch(messages, -1) {
		var n int
		fmt.Sscan(m[1], &n)
		lines = append(lines, n)
	}
	slices.Sort(lines)
	return lines
}

func TestVet(t *testing.T) {
	if testing.Short() {
		t.Skip("has the go command compile")
	}
	t.Run("planted mistakes", func(t *testing.T) {
		want := planted(t)
		r := scopeview("vet")
		if got := found(t, r.err); !slices.Equal(got, want) || r.code != exitFailed || r.out != "" {
			t.Errorf("found mistakes in lines %v, want %v; exit code %d\n%s%s", got, want, r.code, r.out, r.err)
		}
		const sentence = "main.go:21:8: defer calls scope.Task when the function returns, so the scope begins then and never ends; add () behind the call\n"
		if !strings.Contains(r.err, sentence) {
			t.Errorf("want %q in\n%s", sentence, r.err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("as go vet's tool", func(t *testing.T) {
		want := planted(t)
		out, err := exec.Command("go", "vet", "-vettool="+self, "./...").CombinedOutput()
		if got := found(t, string(out)); !slices.Equal(got, want) || err == nil {
			t.Errorf("found mistakes in lines %v, want %v; %v\n%s", got, want, err, out)
		}
	})
	t.Run("fixed", func(t *testing.T) {
		planted(t)
		if out, err := exec.Command("go", "fix", "-fixtool="+self, "./...").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b := filetest.Read(t, "main.go")
		for _, want := range []string{`defer scope.Task("main")() `, `defer scope.Lock(&mu, "mu")() `, `defer scope.Begin("main").End() `, `defer region("a")() `} {
			if !strings.Contains(string(b), want) {
				t.Errorf("want %q in\n%s", want, b)
			}
		}
	})
	t.Run("tags", func(t *testing.T) {
		planted(t)
		filetest.Write(t, "main.go", []byte("//go:build special\n\npackage main\n\nimport \"github.com/scopeview/scopeview/scope\"\n\nfunc main() { scope.Task(\"a\") }\n"))
		if r := scopeview("vet", "--tags", "special"); len(found(t, r.err)) != 1 || r.code != exitFailed {
			t.Errorf("%v", r)
		}
		t.Setenv("GOFLAGS", "-mod=mod -tags=special")
		if r := scopeview("vet"); len(found(t, r.err)) != 1 || r.code != exitFailed {
			t.Errorf("%v", r)
		}
	})
	t.Run("wrong calls", func(t *testing.T) {
		if r := scopeview("vet", "./nowhere"); r.code != exitFailed || !strings.Contains(r.err, "nowhere") {
			t.Errorf("%v", r)
		}
		if r := scopeview("vet", "--strictly"); r.code != exitUsage {
			t.Errorf("%v", r)
		}
	})
	t.Run("without the go command", func(t *testing.T) {
		t.Setenv("PATH", "")
		if r := scopeview("vet"); r.code != exitFailed || !strings.Contains(r.err, "vet needs the go command") {
			t.Errorf("%v", r)
		}
	})
}

func TestIsVetTool(t *testing.T) {
	for args, want := range map[string]bool{
		"-V=full": true, "-flags": true, "/tmp/vet.cfg": true, "-json -c=2 /tmp/vet.cfg": true,
		"": false, "vet": false, "vet -V=full": false, "dump x.cfg": false, "info --json x.cfg": false, "--version": false,
	} {
		if got := isVetTool(strings.Fields(args)); got != want {
			t.Errorf("%q: %v", args, got)
		}
	}
}
