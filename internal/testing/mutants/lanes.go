//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// lane is a go test, with the variables of its environment before it. OWN stands for the
// mutant's package, NEAR for those near it.
type lane struct{ name, command string }

const (
	anywhere = "^Test(G([12]|3[0-257]|38Fork|4[024])|IdleOwners|Ring|Segments|Snapshot|Burst|ManyNames)"
	arm64    = "GOARCH=arm64 CGO_ENABLED=0 RETEST go test -short -skip='" + anywhere + "' -exec='qemu-aarch64 -R 64G' "
	always   = "./internal/sys ./internal/testing/cputest"
	today    = "RETEST go test -short -skip='" + anywhere + "|LateEnd' "
	fast     = "RETEST go test -failfast -vet=off -timeout=30m "
)

// short are the lanes of make test on the packages near a mutant, the fast ones first.
var short = []lane{
	{"plain, short", fast + "-short OWN"},
	{"plain", fast + "NEAR"},
	{"race", fast + "-race -short -skip='^TestG(29|33Descriptors|37Threads|38Fork)' NEAR"},
	{"scope_pure", fast + "-short -tags scope_pure ./scope/... ./sweeper ./internal/record ./internal/sys"},
	{"witnesses", "for tag in $WITNESSES; do " + fast + "-short -tags $tag " + always +
		" && RETEST -naming \"$NAMES_WITNESS\" go test -failfast -short -tags $tag" +
		" $([ $tag = scope_go ] || echo -skip='" + anywhere + "|LateEnd') ./internal/record || exit; done"},
	{"arm64", arm64 + "./internal/format ./internal/record " + always},
}

// full are the lanes that make test-all adds.
var full = []lane{
	{"scope_go in full", "RETEST go test -short -tags scope_go ./scope ./internal/record " + always},
	{"scope_norseq in full", today + "-tags scope_norseq ./scope ./internal/record " + always},
	{"scope_noyield in full", today + "-tags scope_noyield ./scope ./internal/record " + always},
	{"scope_nogoid in full", today + "-tags scope_nogoid ./scope ./internal/record " + always},
	{"arm64, scope_go", arm64 + "-tags scope_go ./internal/record ./internal/sys"},
	{"newest Go", "export GOTOOLCHAIN=go$(go list -m -f '{{.Version}}' go@latest); RETEST go test -short -skip='" + anywhere +
		"' ./internal/record ./internal/sys ./internal/build/instrument"},
}

// judge runs the lanes until one fails, and returns the verdict and the test that failed.
func (m mutant) judge() (verdict, killer string, err error) {
	tmp, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(tmp)
	overlay, err := m.plant(tmp)
	if err != nil {
		return "", "", err
	}
	shell := func(command string) (string, bool) { return shell(tmp, overlay, command) }
	for _, tags := range []string{"", "scope_go"} {
		if _, ok := shell("go build -tags '" + tags + "' ./" + m.pkg); !ok {
			return compiling, "", nil
		}
	}
	replace := strings.NewReplacer("OWN", "./"+m.pkg, "NEAR", near[m.pkg], "RETEST", `"$RETEST"`)
	for i, lanes := range [][]lane{short, full} {
		for _, l := range lanes {
			if out, ok := shell(replace.Replace(l.command)); !ok {
				return []string{byShort, byFull}[i], l.name + ": " + failure(out), nil
			}
		}
	}
	return byNone, "", nil
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

var failed = regexp.MustCompile(`(?m)^FAIL\t\S*?([^/\s]+ Test\w+): |^FAIL\t(\S+): |^\s*(panic: .*)`)

// failure returns what of a lane's output names the test that failed.
func failure(out string) string {
	m := failed.FindStringSubmatch(out)
	if m == nil {
		return fmt.Sprintf("%.200q", out[max(0, len(out)-200):])
	}
	return strings.Join(m[1:], "")
}
