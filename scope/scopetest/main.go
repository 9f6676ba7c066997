package scopetest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// Main runs a package's tests, and records them where the flag -scope asks for it, with the
// options given. It is called by TestMain, before flag.Parse if that calls it. Package testing
// ends the program with the code that is returned.
//
// -scope DIR records into a file in DIR that is called by the package's path, the time and the
// process. The flag stands behind the packages. As with all of a test's own flags, a
// relative DIR is one in each package's directory. The trace is removed if the tests pass,
// unless -scope-keep is given. One of tests that panic, hang or exit stays.
//
// A package that has a flag called scope itself keeps it, and is not recorded. What go test
// takes by -cpuprofile and -trace it gets, and a recording by gotrace.With has no states then.
func Main(m *testing.M, opts ...scope.Option) (code int) {
	if flag.Lookup("scope") != nil || flag.Lookup("scope-keep") != nil {
		return m.Run()
	}
	dir := flag.String("scope", "", "record the tests into a trace in the `directory`, and keep it if they fail")
	keep := flag.Bool("scope-keep", false, "keep the trace also if the tests pass")
	if !flag.Parsed() {
		flag.Parse()
	}
	if *dir == "" || set("test.fuzzworker", "false") {
		return m.Run()
	}
	if set("test.cpuprofile", "") || set("test.trace", "") {
		defer gotrace.Yield()()
	}
	path, err := start(*dir, opts)
	if err != nil {
		fmt.Fprintf(os.Stderr, "scopetest: not recording: %v\n", err)
		return m.Run()
	}
	code = m.Run()
	err = scope.Stop()
	switch {
	case code == 0 && !*keep:
		err = os.Remove(path)
	case err == nil:
		fmt.Fprintf(os.Stderr, "scopetest: %s\n", path)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "scopetest: %s: %v\n", path, err)
	}
	return code
}

// set reports whether a flag is there and is not what it is without being given.
func set(name, without string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() != without
}

// start begins a recording into a new file in dir, and returns its path.
func start(dir string, opts []scope.Option) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Base(os.Args[0])
	if b, ok := debug.ReadBuildInfo(); ok && b.Path != "" {
		name = b.Path
	}
	name = fmt.Sprintf("%s-%s-%d.scope", escaped(strings.TrimSuffix(name, ".test")), time.Now().UTC().Format("20060102T150405.000Z"), os.Getpid())
	path = filepath.Join(dir, name)
	if err := scope.Start(path, opts...); err != nil || scope.Enabled() {
		return path, err
	}
	return "", errors.New("the tests are built with the tag scope_off")
}

// escaped is a package's path as a file's name: example.com+x+y.
func escaped(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '+'
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("-._~+", r):
			return r
		}
		return '_'
	}, path)
}
