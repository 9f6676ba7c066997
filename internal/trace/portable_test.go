package trace_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// readers are the packages that decode a trace's bytes.
var readers = []string{"../format", ".", "text", "../anonymize", "../snapshot"}

// TestG22Unsafe checks that bytes become numbers by encoding/binary, little-endian wherever they
// are read.
func TestG22Unsafe(t *testing.T) {
	files := 0
	for _, dir := range readers {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			files++
			b := filetest.Read(t, p)
			f, err := parser.ParseFile(token.NewFileSet(), p, b, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				if path, _ := strconv.Unquote(i.Path.Value); path == "unsafe" || path == "reflect" {
					t.Errorf("%s imports %s", p, path)
				}
			}
			for _, word := range []string{"NativeEndian", "BigEndian", "binary.Read(", "binary.Write("} {
				if strings.Contains(string(b), word) {
					t.Errorf("%s has %s", p, word)
				}
			}
		}
	}
	if files < 40 {
		t.Errorf("only %d files were looked at", files)
	}
	t.Logf("G22: %d files that decode: none imports unsafe, all numbers are read little-endian by encoding/binary", files)
}

// elsewhere runs the tests of the format and the reader for another architecture.
func elsewhere(t *testing.T, arch string, flags ...string) {
	t.Helper()
	if !full() {
		t.Skip("compiles the tests for " + arch + ", which takes a minute: with SCOPEVIEW_FAULT=full")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool")
	}
	start := time.Now()
	args := append([]string{"test", "-short", "-count=1", "-v"}, flags...)
	cmd := exec.Command(goTool, append(args, "../format", ".", "./text")...)
	cmd.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0", "SCOPEVIEW_FAULT=")
	out, err := cmd.CombinedOutput()
	passed, failed := 0, []string{}
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "--- PASS"):
			passed++
		case strings.Contains(line, "FAIL"), strings.Contains(line, "_test.go"), strings.HasPrefix(line, "panic"):
			failed = append(failed, line)
		}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(failed[max(len(failed)-40, 0):], ""))
	}
	if passed < 50 {
		t.Errorf("only %d tests ran:\n%s", passed, out)
	}
	t.Logf("G22: %s: %d tests of the format and the reader pass, in %v", arch, passed, time.Since(start).Round(time.Second))
}

// TestG22Narrow checks a machine with an int of 32 bits.
func TestG22Narrow(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("programs for 386 run on linux/amd64")
	}
	elsewhere(t, "386")
}

// TestG22BigEndian checks a big-endian machine.
func TestG22BigEndian(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs for linux/s390x are emulated on linux")
	}
	for _, name := range []string{"qemu-s390x", "qemu-s390x-static"} {
		if qemu, err := exec.LookPath(name); err == nil {
			elsewhere(t, "s390x", "-exec", qemu)
			return
		}
	}
	t.Skip("no qemu-s390x; Debian's qemu-user has it")
}
