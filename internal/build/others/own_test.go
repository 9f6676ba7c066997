package others

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// modules are other people's programs: a server, a database, a compressor and a tool that
// analyses Go source.
var modules = []struct {
	name, version string
	packages      []string // whose tests are run
	flags         []string
	counted       string // package whose counts are compared
	slack         float64
}{
	{
		name: "nats-server", version: "github.com/nats-io/nats-server/v2@v2.15.2",
		packages: []string{"./server", "./server/avl", "./server/gsl", "./server/stree", "./server/thw", "./conf", "./logger"},
		flags:    []string{"-short", "-run=^Test(Sublist|Parse|Client|Queue|Auth|Accounts?|SequenceSet|Subject|GenericSublist|HashWheel|Conf|Log|ServerEventsProfileZ)", "-skip=AuthCallout|AuthRequiredNoAuthUser"}, // these fail occasionally in a plain build
		counted:  "./server/stree",
	},
	{
		name: "bbolt", version: "go.etcd.io/bbolt@v1.5.0",
		packages: []string{".", "./internal/common", "./internal/freelist", "./cmd/bbolt/..."},
		flags:    []string{"-short", "-run=^Test(DB_(Open|Begin|Update|View|Batch|Close|Stats)|Bucket|Tx|Cursor|Node|Freelist|Page|Inode|Check|Get|Keys)", "-skip=_QuickCheck|ForEach|Concurrent"},
		counted:  ".", slack: 0.001,
	},
	{
		name: "compress", version: "github.com/klauspost/compress@v1.20.3",
		packages: []string{"./huff0", "./fse", "./flate", "./s2", "./zstd"},
		flags:    []string{"-short"},
		counted:  "./huff0",
	},
	{
		name: "tools", version: "golang.org/x/tools@v0.52.0",
		packages: []string{"./go/ast/...", "./go/cfg", "./go/types/...", "./go/ssa", "./go/callgraph/...", "./container/...", "./cover", "./txtar", "./go/analysis/passes/printf", "./go/analysis/passes/nilness"},
		flags:    []string{"-short"},
		counted:  "./go/cfg",
	},
}

var (
	verdict   = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+)`)
	verdictOf = regexp.MustCompile(`(?m)^(ok  |FAIL|\?   )\t(\S+)`)
)

// verdicts returns the results in the output of go test -v, of each test and package.
func verdicts(out string) string {
	all := map[string]bool{}
	for _, m := range append(verdict.FindAllStringSubmatch(out, -1), verdictOf.FindAllStringSubmatch(out, -1)...) {
		all[m[2]+" "+m[1]] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), "\n")
}

// TestOwnTests: each test of these modules passes with all recording enabled if it passes in
// a plain build.
func TestOwnTests(t *testing.T) {
	full(t)
	for _, m := range modules {
		t.Run(m.name, func(t *testing.T) {
			c := module(t, m.version)
			flags := append([]string{"-count=1", "-v"}, m.flags...)
			want := c.run("go", slices.Concat([]string{"test"}, flags, m.packages)...)
			dir := t.TempDir()
			got := c.run(c.tool, slices.Concat([]string{"test", "--args", "--keep", "-o", dir}, flags, m.packages)...)
			w, g := verdicts(want.out), verdicts(got.out)
			t.Logf("%d tests and packages", strings.Count(w, "\n")+1)
			if got.code != want.code || g != w {
				t.Errorf("exit code %d, plain %d;%s\n%s", got.code, want.code, differences(w, g), tail(got.out+got.err))
			}
			if want.code != 0 {
				t.Errorf("they fail as they are: choose others\n%s", tail(want.out))
			}
		})
	}
}

// differences returns the lines that only one of two texts has.
func differences(want, got string) string {
	var b strings.Builder
	for _, l := range strings.Split(want, "\n") {
		if !slices.Contains(strings.Split(got, "\n"), l) {
			b.WriteString("\n\tplain only: " + l)
		}
	}
	for _, l := range strings.Split(got, "\n") {
		if !slices.Contains(strings.Split(want, "\n"), l) {
			b.WriteString("\n\tnot plain: " + l)
		}
	}
	return b.String()
}

// tail returns the end of a command's output.
func tail(s string) string { return s[max(0, len(s)-4000):] }

// TestOwnCounts: the counts of one package of each module equal those of coverage.
func TestOwnCounts(t *testing.T) {
	full(t)
	for _, m := range modules {
		t.Run(m.name, func(t *testing.T) {
			module(t, m.version).counts(m.counted, m.slack, m.flags...)
		})
	}
}
