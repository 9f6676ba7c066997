//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// packages are those that get mutants.
var packages = []string{"internal/record", "internal/pool", "internal/sys", "internal/trace", "internal/format"}

// near are the packages whose tests see a package's faults first.
var near = map[string]string{
	"internal/record": "./internal/record ./scope/...",
	"internal/pool":   "./internal/pool ./flusher ./mmpool ./internal/record",
	"internal/sys":    "./internal/sys ./internal/testing/cputest ./scope ./internal/record",
	"internal/trace":  "./internal/trace/... ./internal/pack ./internal/analysis ./internal/record",
	"internal/format": "./internal/format ./internal/chunks ./internal/trace/... ./internal/hot ./internal/record",
}

// tagged are the packages that have files or branches of their own for a tag, an architecture or a
// version of Go. The code of the others is the same in every lane, and so are the tests that run it:
// make test misses nothing there that test-all has.
var tagged = []string{"internal/record", "internal/sys"}

// lane is a go test, with the variables of its environment before it. OWN stands for the
// mutants' package, NEAR for those near it; a lane without either is the same for all mutants.
// KILLER stands for the test of test-all that killed the mutant. A lane tries as many mutants at a
// time as it can, unless alone is set. A lane with suspects tries only mutants that test-all is
// suspected to kill alone.
type lane struct {
	name, verdict, command string
	alone, suspects        bool
}

// The verdicts.
const (
	compiling = "does not compile"
	byShort   = "killed by make test"
	suspected = "killed by a lane of test-all"
	byFull    = "killed by test-all only"
	byNone    = "not killed by the lanes that tried it"
)

const (
	anywhere = "^Test(G([12]|3[0-257]|38Fork|4[024])|IdleOwners|Ring|Segments|Snapshot|Burst|ManyNames)"
	arm64    = "GOARCH=arm64 CGO_ENABLED=0 RETEST go test -failfast -short -skip='" + anywhere + "' -exec='qemu-aarch64 -R 64G' "
	always   = "./internal/sys ./internal/testing/cputest"
	fast     = "RETEST go test -failfast -vet=off -timeout=30m "
	today    = "go test -failfast -vet=off -short -skip='" + anywhere + "|LateEnd' "
)

// lanes are the fastest of make test; those that make test-all adds; and for what these kill, the
// others of make test on the packages near a mutant.
var lanes = []lane{
	{"build", compiling, "go build OWN && go build -tags scope_go OWN", true, false},
	{"quick", byShort, fast + "-timeout=4m -short -skip='^Test(G[0-9]|IdleOwners|LateEnd|ManyNames|StartStop|Burst|Callbacks|Misuse)' OWN", true, false},
	{"scope_go in full", suspected, "go test -failfast -vet=off -short -tags scope_go ./scope ./internal/record " + always, false, false},
	{"scope_norseq in full", suspected, today + "-tags scope_norseq ./scope ./internal/record " + always, false, false},
	{"scope_noyield in full", suspected, today + "-tags scope_noyield ./scope ./internal/record " + always, false, false},
	{"scope_nogoid in full", suspected, today + "-tags scope_nogoid ./scope ./internal/record " + always, false, false},
	{"arm64, scope_go", suspected, arm64 + "-tags scope_go ./internal/record ./internal/sys", false, false},
	{"newest Go", suspected, "export GOTOOLCHAIN=go$(go list -m -f '{{.Version}}' go@latest); go test -failfast -vet=off -short -skip='" + anywhere +
		"' ./internal/record ./internal/sys ./internal/build/instrument", false, false},
	{"the same test", byShort, fast + "-run='^(KILLER)$' ./scope ./internal/record " + always, true, true},
	{"most", byShort, fast + "-short -skip='^Test(G(16|17|31|37)|IdleOwners|LateEnd|ManyNames|Snapshot|Shm)' NEAR", false, true},
	{"plain", byShort, fast + "NEAR", false, true},
	{"race", byShort, fast + "-race -short -skip='^TestG(29|33Descriptors|37Threads|38Fork)' NEAR", false, true},
	{"scope_pure", byShort, fast + "-short -tags scope_pure ./scope/... ./sweeper ./internal/record ./internal/sys", false, true},
	{"witnesses", byShort, "for tag in $WITNESSES; do " + fast + "-short -tags $tag " + always +
		" && RETEST -naming \"$NAMES_WITNESS\" go test -failfast -short -tags $tag" +
		" $([ $tag = scope_go ] || echo -skip='" + anywhere + "|LateEnd') ./internal/record || exit; done", false, true},
	{"arm64", byShort, arm64 + "./internal/format ./internal/record " + always, false, true},
}

// groups divides mutants into those that the lane tries at once: of one package if the lane is
// a package's, and none within another.
func (l lane) groups(all []mutant) (groups [][]mutant) {
	packages := strings.Contains(l.command, "OWN") || strings.Contains(l.command, "NEAR")
next:
	for _, m := range all {
		for i, group := range groups {
			if !l.alone && !(packages && m.pkg != group[0].pkg) && !slices.ContainsFunc(group, m.overlaps) {
				groups[i] = append(group, m)
				continue next
			}
		}
		groups = append(groups, []mutant{m})
	}
	return groups
}

// run runs the lane with the mutants planted, and reports whether it passed.
func (l lane) run(group []mutant, killer string) (out string, ok bool, err error) {
	tmp, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(tmp)
	overlay, err := plant(tmp, group)
	if err != nil {
		return "", false, err
	}
	pkg := group[0].pkg
	replace := strings.NewReplacer("OWN", "./"+pkg, "NEAR", near[pkg], "KILLER", killer, "RETEST", `"$RETEST"`)
	out, ok = shell(tmp, overlay, replace.Replace(l.command))
	return out, ok, nil
}

// shell runs a command with the overlay and reports whether it passed. A mutant's tests that
// do not end are go test's to end; what they started is killed with them.
func shell(tmp, overlay, command string) (out string, ok bool) {
	cmd := exec.Command("bash", "-euc", command)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay, "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(tmp, "log")) // not a pipe, which what is left would hold
	if err != nil {
		return err.Error(), false
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	b, _ := os.ReadFile(log.Name())
	return string(b), err == nil
}

var failed = regexp.MustCompile(`(?m)^FAIL\t\S*?([^/\s]+ Test\w+): |^FAIL\t(\S+): |^\s*(panic: .*)|^--- FAIL: (Test\w+)`)

// failure returns what of a lane's output names the test that failed.
func failure(out string) string {
	m := failed.FindStringSubmatch(out)
	if m == nil {
		return fmt.Sprintf("%.200q", out[max(0, len(out)-200):])
	}
	return strings.Join(m[1:], "")
}
