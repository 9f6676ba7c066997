package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script is a tool that runs the lines of a shell.
func script(t *testing.T, lines string) Tool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o755); err != nil {
		t.Fatal(err)
	}
	return Tool(path)
}

func TestRoot(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(b), "module github.com/scopeview/scopeview\n") {
		t.Errorf("%s has no go.mod of scopeview: %v, %.60q", root, err, b)
	}
}

func TestBuildSaysWhatIsWrong(t *testing.T) {
	if _, err := Build(t.TempDir(), "./cmd/none"); err == nil || !strings.Contains(err.Error(), "./cmd/none can't be built") {
		t.Errorf("building what is not there: %v", err)
	}
}

func TestRun(t *testing.T) {
	out, err := script(t, `echo "$2 $1"; echo noise >&2`).Run("a", "b c")
	if err != nil || string(out) != "b c a\n" {
		t.Errorf("%q, %v", out, err)
	}
	_, err = script(t, `echo out; echo why >&2; exit 3`).Run("info", "x.scope")
	if err == nil || err.Error() != "scopeview info x.scope: exit status 3: why\n" {
		t.Errorf("the error of a failure: %v", err)
	}
}

func TestJSON(t *testing.T) {
	var v struct{ N int }
	if err := script(t, `echo '{"n": 7}'`).JSON(&v); err != nil || v.N != 7 {
		t.Errorf("%+v, %v", v, err)
	}
	if err := script(t, `echo 'seven'`).JSON(&v, "top", "--json"); err == nil || !strings.HasPrefix(err.Error(), "scopeview top --json: ") {
		t.Errorf("the error of what is no JSON: %v", err)
	}
}

// TestServe: the address is found in what the tool prints, which goes on printing;
// Close interrupts it, so that it can clean up.
func TestServe(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "interrupted")
	s, err := script(t, `
trap 'kill $!; echo "$@" >'"'"`+mark+`"'"'; exit 0' INT
echo "reading"
echo "see http://127.0.0.1:4711/?token=abc"
yes | head -c 1000000
sleep 60 &
wait
`).Serve("x.scope")
	if err != nil {
		t.Fatal(err)
	}
	if s.URL != "http://127.0.0.1:4711/?token=abc" || s.PID() <= 0 {
		t.Errorf("the address is %q, the process %d", s.URL, s.PID())
	}
	s.Close()
	if b, err := os.ReadFile(mark); err != nil || string(b) != "serve x.scope\n" {
		t.Errorf("the tool was not interrupted, or called otherwise: %q, %v", b, err)
	}
}

func TestServeWithoutAddress(t *testing.T) {
	if s, err := script(t, `echo "no trace here"; exit 1`).Serve("x.scope"); err == nil || err.Error() != "scopeview serve x.scope printed no URL" {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := Tool(filepath.Join(t.TempDir(), "none")).Serve("x.scope"); err == nil {
		t.Errorf("what is not there serves: %+v", s)
	}
}
