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

// Main runs a package's tests and, if the flag -scope is set, records them with the given
// options. Call it in TestMain, before flag.Parse if TestMain calls that. Package testing
// exits with the returned code.
//
// -scope DIR records into a file in DIR whose name has the package's path, the time and the
// process. On the command line it follows the packages. As for all of a test's own flags, a
// relative DIR is relative to each package's directory. The trace is removed if the tests
// pass, unless -scope-keep is given. If the tests panic, hang or exit, it stays.
//
// A package that itself defines a flag scope keeps it, and is not recorded. With go test's
// -cpuprofile or -trace, a recording with gotrace.With has no states.
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

// set reports whether a flag exists and differs from its default, without.
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

// escaped returns a package's path as a file name: example.com+x+y.
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
