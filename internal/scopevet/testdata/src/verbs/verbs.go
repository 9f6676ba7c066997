// Package verbs gives Taskf formats and arguments.
package verbs

import (
	"errors"
	"fmt"
	"time"

	"github.com/scopeview/scopeview/scope"
)

type level int

func (level) String() string { return "level" }

type name string

type point struct{ x, y int }

func must[T any, S fmt.Stringer](n int, s string, f float64, b bool, d time.Duration, v any, t T, st S, args []any) {
	defer scope.Taskf("a %d", "x")()              // want `the verb %d of scope.Taskf can't print "x", which is recorded as a string`
	defer scope.Taskf("a %s", n)()                // want `the verb %s of scope.Taskf can't print n, which is recorded as an integer`
	defer scope.Taskf("a %s", level(n))()         // want `can't print level\(n\), which is recorded as an integer: its methods are not called`
	defer scope.Taskf("a %d", f)()                // want `recorded as a float`
	defer scope.Taskf("a %d", b)()                // want `recorded as a bool`
	defer scope.Taskf("a %f", d)()                // want `recorded as a duration`
	defer scope.Taskf("a %t", name(s))()          // want `recorded as a string`
	defer scope.Taskf("a %d %d", n)()             // want `the verb %d of scope.Taskf reads argument 2, and there is 1`
	defer scope.Taskf("a %d", scope.KV("n", n))() // want `reads argument 1, and there are 0 \(those of scope.KV are shown by their names and not counted\)`
	defer scope.Taskf("a %d", n, s)()             // want `the format of scope.Taskf reads 1 argument, and there are 2`
	defer scope.Taskf("a", n)()                   // want `the format of scope.Taskf reads 0 arguments, and there is 1`
	defer scope.Taskf("a %z", n)()                // want `scope.Taskf has no verb %z`
	defer scope.Taskf("a %w", errors.New("x"))()  // want `scope.Taskf has no verb %w`
	defer scope.Taskf("a %p", &n)()               // want `scope.Taskf has no verb %p`
	defer scope.Taskf("100%", n)()                // want `the format of scope.Taskf ends in the middle of a verb: %`
	defer scope.Taskf("%*d", s, n)()              // want `the \* of scope.Taskf takes an integer, and s is recorded as a string`
	defer scope.Taskf("%[3]d", n, n)()            // want `the verb %\[3\]d of scope.Taskf reads argument 3, and there are 2`
	defer scope.Taskf("%[x]d", n)()               // want `\[x\] in the format of scope.Taskf is no argument's number`
	defer scope.Taskf("%z", args...)()            // want `scope.Taskf has no verb %z`
	defer scope.Taskf("%z %v", v)()               // want `scope.Taskf has no verb %z`
	const format = "%d"
	defer scope.Taskf(format+" %s", n, n)() // want `the verb %s of scope.Taskf can't print n`
}

func silent[T any, S fmt.Stringer](n int, s string, f float64, b bool, d time.Duration, v any, t T, st S, args []any, err error) {
	defer scope.Taskf("plain")()
	defer scope.Taskf("100%%")()
	defer scope.Taskf("%d %s %v %.2f %t %x %q", n, s, n, f, b, s, name(s))()
	defer scope.Taskf("%d %x %c %U %08b %T", uint8(1), uintptr(2), 'x', 'x', level(n), n)()
	defer scope.Taskf("%v %s %d %q", d, d, d, d)()
	defer scope.Taskf("%s %d %v", point{1, 2}, point{}, &n)()
	defer scope.Taskf("%s %v %d", err, err, err)()
	defer scope.Taskf("%s %s %s", []byte(s), []string{s}, nil)()
	defer scope.Taskf("%d", n, scope.KV("bytes", n))()
	defer scope.Taskf("%d %s", scope.KV("bytes", n), n, scope.KV("file", s), s)()
	defer scope.Taskf("%s", v, 5, v)()
	defer scope.Taskf("%s", t, n)()
	defer scope.Taskf("%s", st)()
	defer scope.Taskf("%d %d %d", args...)()
	defer scope.Taskf(s, n)()
	defer scope.Taskf("%*d %-*.*f %+.3e % d %#x", n, n, n, n, f, f, n, n)()
	defer scope.Taskf("%[2]d %[1]s", s, n)()
	defer scope.Taskf("%[1]d", n, s)()
	defer scope.Task("%d %s", n, n)()
}
