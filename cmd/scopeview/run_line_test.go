package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/hostmod"
)

// oddProgram prints its arguments and environment, and calls a recorded function.
const oddProgram = `-- go.mod --
module example.com/odd/v2

go 1.22
-- other.mod --
module example.com/odd/v2

go 1.22

require example.com/dep v1.0.0

replace example.com/dep => ./dep
-- dep/go.mod --
module example.com/dep
-- dep/dep.go --
package dep

const Here = true
-- main.go --
package main

import (
	"embed"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

//go:embed files
var files embed.FS

func main() {
	list, err := files.ReadDir("files")
	fmt.Println(len(list), err, os.Args[1:], os.Getenv("ODD"), signal.Ignored(syscall.SIGHUP), more)
	work()
}

func work() {
	for i := range 3 {
		_ = strings.ToLower(strings.Repeat("b", i))
	}
}

var more = "plain"

func small() int { return 1 }
-- files/a/a.txt --
-- other.go --
//go:build never

package main

func init() { more = "another file" }
-- wrap.sh --
#!/bin/sh
echo "$0 wraps"
"$@"
exit 7
`

// TestRunLine tests command lines of go run with more than a flag and a package.
func TestRunLine(t *testing.T) {
	l := launching(t, oddProgram)
	if err := os.Chmod(filepath.Join(l.dir, "wrap.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	uses := filepath.Join(l.dir, "uses.go")
	filetest.Write(t, uses, []byte("//go:build dep\n\npackage main\n\nimport \"example.com/dep\"\n\nvar _ = dep.Here\n"))
	for _, c := range []struct {
		args []string
		env  string
		want string
		code int
	}{
		{[]string{"run", "--", ".", "a"}, "", "1 <nil> [a]  false plain\n", 0},
		{[]string{"run", ".", "--", "a"}, "", "1 <nil> [-- a]  false plain\n", 0},
		{[]string{"run", "-exec", `sh -c 'ODD=1 "$@"' sh`, "."}, "", "1 <nil> [] 1 false plain\n", 0},
		{[]string{"run", "-exec=./wrap.sh", "."}, "", "./wrap.sh wraps\n1 <nil> []  false plain\n", 7},
		{[]string{"run", "."}, "GOFLAGS=" + goflags("-modfile=other.mod -tags=dep"), "1 <nil> []  false plain\n", 0},
	} {
		r := l.with([]string{c.env}, "", c.args...)
		c.want = hangUp(c.want)
		if r.out != c.want || r.code != c.code {
			t.Errorf("%s %q: %s, want %q and exit code %d", c.env, c.args, r, c.want, c.code)
			continue
		}
		if got := l.scopes(r.err); got["main.work"] != 1 {
			t.Errorf("%s %q: recorded %v", c.env, c.args, got)
		}
		if want := "\nscopeview: functions: 1 left out when it was built: the compiler inlines it (main.small)\n"; !strings.HasSuffix(r.err, want) {
			t.Errorf("%s %q: it ends with %s, want %q", c.env, c.args, r, want)
		}
		if !strings.Contains(r.err, "/odd-") {
			t.Errorf("%s %q: the program is called odd, as the go command would call it: %s", c.env, c.args, r)
		}
	}
	if r := l.tool("run", "-n", "."); r.code != 0 || r.out != "" || !strings.Contains(r.err, "mkdir -p $WORK") || strings.Contains(r.err, "no trace") {
		t.Errorf("-n: %s, want the go command's commands, and nothing run", r)
	}
	for _, c := range []struct{ args, env, want string }{
		{"run -exec='a .", "", "the quote is not closed"},
		{"run -- -x", "", "-x is not a package"},
		{"run -race --trace=./... .", "", "--trace is a flag of scopeview"},
		{"test -race --keep", "", "--keep is a flag of scopeview"},
		{"run .", "GOARCH=" + otherArch(), "build it with scopeview build"},
		{"run .", "GOFLAGS=" + goflags("-buildmode=plugin"), "-buildmode=plugin can't record"},
	} {
		if r := l.with([]string{c.env}, "", strings.SplitN(c.args, " ", 3)...); r.code != exitUsage || !strings.Contains(r.err, c.want) {
			t.Errorf("%s %s: %s, want %q and exit code 2", c.env, c.args, r, c.want)
		}
	}
}

// TestRunCgo: functions in files that import C are left out, and listed by name.
func TestRunCgo(t *testing.T) {
	l := launching(t, `-- go.mod --
module example.com/c

go 1.22
-- main.go --
package main

// static int twice(int x) { return 2 * x; }
import "C"
import "fmt"

func main() { fmt.Println(twice(4)) }

func twice(x int) int { return int(C.twice(C.int(x))) }
`)
	if !cgoWorks(t) {
		t.Skip("needs cgo")
	}
	r := l.tool("run", ".")
	if want := "functions: 2 left out when it was built: its file imports C (main.main, main.twice)\n"; r.out != "8\n" || !strings.Contains(r.err, want) {
		t.Errorf("%s, want %q", r, want)
	}
}

// otherArch returns an architecture whose programs can't run here.
func otherArch() string { return "mips64" }

// hangUp adapts the program's expected output to a test under nohup, where it ignores SIGHUP.
func hangUp(said string) string {
	return strings.Replace(said, " false ", fmt.Sprintf(" %v ", signal.Ignored(syscall.SIGHUP)), 1)
}

// TestRunSeesChanges: a program is rebuilt if any file on which it depends changes, even a new one.
func TestRunSeesChanges(t *testing.T) {
	l := launching(t, oddProgram)
	for _, c := range []struct{ file, text, want string }{
		{"", "", "1 <nil> []  false plain\n"},
		{"", "", "1 <nil> []  false plain\n"},
		{"other.go", "package main\n\nfunc init() { more = \"another file\" }\n", "1 <nil> []  false another file\n"},
		{"files/b/b.txt", "", "2 <nil> []  false another file\n"},
	} {
		if c.file != "" {
			path := filepath.Join(l.dir, filepath.FromSlash(c.file))
			filetest.Write(t, path, []byte(c.text))
		}
		c.want = hangUp(c.want)
		if r := l.tool("run", "."); r.out != c.want {
			t.Errorf("after a change of %q: %s, want %q", c.file, r, c.want)
		}
	}
}

// TestRunIgnoredSignal: a program that nohup starts ignores SIGHUP.
func TestRunIgnoredSignal(t *testing.T) {
	l := launching(t, oddProgram)
	r := l.process(l.env, "", "sh", "-c", `trap "" HUP; exec "$@"`, "sh", os.Args[0], "run", ".")
	if want := "1 <nil> []  true plain\n"; r.out != want {
		t.Errorf("%s, want %q", r, want)
	}
}

// TestRunOwnRecording: a program that starts a recording itself, by a call or by scope/auto, gets
// no error that another one is active.
func TestRunOwnRecording(t *testing.T) {
	l := launching(t, `-- go.mod --
module example.com/own

go 1.26
-- main.go --
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/scopeview/scopeview/scope"
	_ "github.com/scopeview/scopeview/scope/auto"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Println(scope.Start(os.Args[1]))
		defer scope.Stop()
	}
	defer scope.Task("own")()
	work()
}

func work() {
	for i := range 3 {
		fmt.Print(strings.ToLower(strings.Repeat(fmt.Sprint(i), 1)))
	}
}
`)
	hostmod.Complete(t, l.dir)
	r := l.with([]string{"GOFLAGS=" + goflags("-mod=mod")}, "", "run", ".")
	if names := l.scopes(r.err); r.out != "012" || names["own"] != 1 || names["main.work"] != 1 || strings.Contains(r.err, "not recording") {
		t.Errorf("scope/auto: %s, recorded %v", r, names)
	}
	file := filepath.Join(t.TempDir(), "own.scope")
	r = l.with([]string{"GOFLAGS=" + goflags("-mod=mod")}, "", "run", ".", file)
	if r.out != "<nil>\n012" || !strings.Contains(r.err, "a program that starts its own recording") || strings.Contains(r.err, "not recording") {
		t.Errorf("scope.Start: %s", r)
	}
	if names := l.scopes("scopeview: " + file + "\n"); names["own"] != 1 || names["main.work"] != 1 {
		t.Errorf("scope.Start: recorded %v", names)
	}
}

// TestRunForwards: signals to the tool are forwarded to the program, whose exit code the tool
// returns.
func TestRunForwards(t *testing.T) {
	l := launching(t, `-- go.mod --
module example.com/daemon

go 1.22
-- main.go --
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGTERM)
	if err := os.WriteFile(os.Args[1], nil, 0o644); err != nil {
		panic(err)
	}
	fmt.Println(<-ch)
	os.Exit(5)
}
`)
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := exec.Command(os.Args[0], "run", ".", ready)
	var out strings.Builder
	cmd.Dir, cmd.Env, cmd.Stdout = l.dir, l.env, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(end) {
			_ = cmd.Process.Kill()
			t.Fatal("the program does not run")
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := out.String(); got != "terminated\n" || cmd.ProcessState.ExitCode() != 5 {
		t.Errorf("%q and exit code %d, want terminated and 5", got, cmd.ProcessState.ExitCode())
	}
}
