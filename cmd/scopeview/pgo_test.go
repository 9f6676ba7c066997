package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
	"github.com/scopeview/scopeview/scope/scopehttp"
)

const fieldDir = "SCOPEVIEW_TEST_FIELD"

// TestFieldProgram is not a test but the program that TestCollect profiles: it is busy, records
// itself, and has a debug server, whose address it prints.
func TestFieldProgram(t *testing.T) {
	dir := os.Getenv(fieldDir)
	if dir == "" {
		t.Skip("it is started by TestCollect")
	}
	options := []scope.Option{scope.WithFlushEvery(10 * time.Millisecond), gotrace.With()}
	if filepath.Base(dir) == "ring" {
		options = append(options, scope.WithRing(4<<20))
	}
	if dir != "-" { // a program that takes CPU samples itself has no profile for others
		if err := scope.Start(dir, options...); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.Handle("/debug/scope/", scopehttp.Handler(scopehttp.WithDir(dir)))
	server := httptest.NewServer(mux)
	for i := 0; ; i++ {
		if i == 10 {
			fmt.Println(server.URL)
		}
		inField()
	}
}

//go:noinline
func inField() int { return spin(50 * time.Millisecond) }

// TestCollect: profiles collected from a program through its debug servers, its process number, and
// its recordings, and from a command, have the busy call, as the compiler reads it.
func TestCollect(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process, recording, _ := ofTest(t, "TestFieldProgram", fieldDir+"="+dir)
	_, plain, _ := ofTest(t, "TestFieldProgram", fieldDir+"=-")
	ring := filepath.Join(dir, "ring")
	if err := os.Mkdir(ring, 0o700); err != nil {
		t.Fatal(err)
	}
	_, ringing, _ := ofTest(t, "TestFieldProgram", fieldDir+"="+ring)
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("SCOPEVIEW_TEST_SPIN", "1")
	// Go's trace is not written until it is requested, as the handler below does.
	if r := scopeview("pgo", "collect", ring, "-o", "default.pgo"); r.code != exitFailed || !strings.Contains(r.err, "until it ends or scopeview ctl requests a snapshot") {
		t.Errorf("a ring that nobody asked: %v", r)
	}
	for name, args := range map[string][]string{
		"the debug server": {plain, "--seconds", "1"},
		"its own address":  {plain + "/debug/pprof/profile?seconds=1"},
		"our handler":      {recording + "/debug/scope/", "--binary", self},
		"a ring":           {ringing + "/debug/scope/", "--binary", self},
		"the process":      {strconv.Itoa(process)},
		"the directory":    {dir},
		"a command":        {"--", self, "-test.run=^TestSpin$"},
		"several of these": {dir, plain, "--seconds", "1"},
	} {
		if name == "the process" && runtime.GOOS != "linux" {
			continue // the file of a process can't be found there
		}
		var r result
		for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
			r = scopeview(append([]string{"pgo", "collect", "-o", "default.pgo"}, args...)...)
			if !strings.Contains(r.err, "no Go execution trace") && !strings.Contains(r.err, "not one call") {
				break // Go writes its trace every second
			}
		}
		if strings.Contains(r.err, "recording from outside") {
			t.Logf("%s: %s", name, r.err)
			continue
		}
		if r.code != exitOK {
			t.Errorf("%s: %v", name, r)
			continue
		}
		read, err := exec.Command("go", "tool", "preprofile", "-i", "default.pgo").Output()
		caller := "inField"
		if name == "a command" {
			caller = "TestSpin"
		}
		if want := regexp.MustCompile(`(?m)^\S+/cmd/scopeview\.` + caller + `\n\S+/cmd/scopeview\.spin\n`); err != nil || !want.Match(read) {
			t.Errorf("%s: %v: the compiler does not read a call of spin:\n%s", name, err, read)
		}
	}
	if r := scopeview("pgo", "collect", recording, "-o", "default.pgo"); r.code != exitFailed || !strings.Contains(r.err, "cpu profiling already in use") {
		t.Errorf("what samples itself: %v", r)
	}
	files(t, os.Getenv("TMPDIR"))
}

// theOne is an existing default.pgo.
const theOne = "the profile before"

// TestNoHalfProfile: a failure leaves the existing profile unchanged, and is reported.
func TestNoHalfProfile(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"good.afdo":   "main.main:90:0\n 1: 90 main.f:90\n",
		"blank.afdo":  "main.main:90:0\n 1:  90\n",
		"go.mod":      "module example.com/app\n\ngo 1.26\n",
		"main.go":     "package main\n\nfunc main() { f( }\n",
		"default.pgo": theOne,
	} {
		filetest.Write(t, name, []byte(text))
	}
	if r := scopeview("autofdo", "read", "good.afdo", "-o", "good.pprof"); r.code != exitOK {
		t.Fatal(r)
	}
	whole := filetest.Read(t, "good.pprof")
	save := func(name string, b []byte) {
		t.Helper()
		filetest.Write(t, name, b)
	}
	save("cut.pprof", whole[:len(whole)-9])
	save("behind.pprof", append(slices.Clone(whole), "more"...))
	save("cut.data", []byte("PERFILE2 and no more"))
	save("empty.pprof", nil)
	save("binary.prof", []byte("\x04\x01\xd0\xb1\xf4\xc9\x94\xa8\x53 and more"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/profile" {
			http.Error(w, "profiling is off", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		_, _ = w.Write(whole[:20])
	}))
	defer server.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"pgo collect cut.pprof":                               "cut.pprof: ",
		"pgo collect good.pprof behind.pprof":                 "behind.pprof: ",
		"pgo collect empty.pprof":                             "no call in 1 profile",
		"pgo collect cut.data":                                "cut.data",
		"pgo merge good.pprof blank.afdo":                     "blank.afdo:2: Expected",
		"pgo collect good.pprof no.pprof":                     "no.pprof",
		"pgo collect " + server.URL:                           "the download ended early",
		"pgo collect " + server.URL + "/other/pprof/profile":  "500 Internal Server Error",
		"pgo collect http://127.0.0.1:1":                      "127.0.0.1:1",
		"pgo shrink cut.pprof":                                "cut.pprof: ",
		"pgo salvage cut.pprof":                               "cut.pprof: ",
		"pgo rename good.pprof main.none=main.g":              "main.none",
		"autofdo read blank.afdo":                             "blank.afdo:2: Expected",
		"autofdo read cut.pprof":                              "cut.pprof",
		"autofdo write cut.pprof":                             "cut.pprof: ",
		"autofdo write empty.pprof":                           "no function in it has a known name and line",
		"autofdo write binary.prof":                           "convert it with llvm-profdata merge --sample --text",
		"pgo collect " + self:                                 "is a program, not a profile",
		"autofdo merge good.afdo blank.afdo":                  "blank.afdo:2: Expected",
		"pgo collect -- /no/such/program":                     "/no/such/program",
		"pgo collect -- " + self + " -test.run=NONE -test.no": "ended with exit code 2",
	} {
		words := strings.Fields(args)
		r := scopeview(append([]string{words[0], words[1], "-o", "default.pgo"}, words[2:]...)...)
		if r.code == exitOK || !strings.Contains(r.err, want) && !strings.Contains(r.err, "recording from outside") {
			t.Errorf("%s: %v, want %q", args, r, want)
		}
	}
	// If the module does not build, the profile is kept, and packages that do not load are reported.
	if r := scopeview("pgo", "salvage", "good.pprof", "-o", "out.pgo"); r.code != exitOK || !strings.Contains(r.err, "does not load") {
		t.Errorf("salvage where nothing builds: %v", r)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	for _, args := range []string{"pgo collect good.pprof", "pgo merge good.pprof good.pprof", "pgo salvage good.pprof", "pgo shrink good.pprof"} {
		if r := scopeviewOn(stopped, false, append(strings.Fields(args), "-o", "default.pgo")...); r.code == exitOK {
			t.Errorf("%s succeeds though it was stopped: %v", args, r)
		}
	}
	if b, err := os.ReadFile("default.pgo"); err != nil || string(b) != theOne {
		t.Errorf("default.pgo has become %q (%v)", b, err)
	}
	files(t, ".", "behind.pprof", "binary.prof", "blank.afdo", "cut.data", "cut.pprof", "default.pgo", "empty.pprof", "go.mod", "good.afdo", "good.pprof", "main.go", "out.pgo")
}

// TestHostileProfiles: no name in a profile, and no profile's name, controls a terminal.
func TestHostileProfiles(t *testing.T) {
	t.Chdir(t.TempDir())
	file := "\x1b[2J\u2066\x7f.afdo"
	if runtime.GOOS == "windows" {
		file = "plain.afdo"
	}
	var b strings.Builder
	for i, name := range tracetest.HostileNames() {
		name = strings.NewReplacer("\n", "", "\r", "", "\x00", "").Replace(name)
		fmt.Fprintf(&b, "f%s:%d:0\n 1: %d f%s:%d\n", name, 100+i, 100+i, name, 100+i)
	}
	bad := b.String() + "\x1b[2J\n"
	for name, text := range map[string]string{file: b.String(), "bad.afdo": bad} {
		filetest.Write(t, name, []byte(text))
	}
	if r := scopeview("autofdo", "read", file, "-o", "x.pgo"); r.code != exitOK {
		t.Fatal(r)
	}
	for name, text := range map[string]string{"go.mod": "module example.com/app\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		filetest.Write(t, name, []byte(text))
	}
	for _, args := range [][]string{
		{"pgo", "show", file}, {"pgo", "show", "x.pgo", "-n", "0"}, {"pgo", "show", "bad.afdo"}, {"pgo", "overlap", file, "bad.afdo"}, {"pgo", "overlap", "x.pgo", file},
		{"pgo", "check", "x.pgo"}, {"pgo", "explain", "x.pgo"}, {"pgo", "salvage", file, "-o", "y.pgo"}, {"pgo", "rename", file, "\x1b[2J=\u009b", "-o", "z.pgo"},
		{"pgo", "collect", "\x1b[2J"}, {"pgo", "merge", "--by", "\x1b[2J", file}, {"pgo", "shrink", file, "-o", "s.pgo"}, {"pgo", "ab", "--pgo", "\x1b[2J", "\x1b[2J"},
		{"autofdo", "show", file}, {"autofdo", "show", "bad.afdo"}, {"autofdo", "overlap", file, file}, {"autofdo", "merge", "bad.afdo"}, {"autofdo", "\x1b[2J"},
	} {
		for _, terminal := range []bool{true, false} {
			r := scopeviewOn(context.Background(), terminal, args...)
			if r.out+r.err == "" {
				t.Errorf("%q prints nothing", args)
			}
			text := r.out + r.err
			if terminal {
				text = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(text, "")
			}
			for at, c := range text {
				if c != '\n' && c != '\t' && (c != '\r' || !terminal) && unicode.In(c, unicode.Cc, unicode.Cf) {
					t.Errorf("%q, on a terminal %v, prints %U: %q", args, terminal, c, text[max(0, at-40):min(len(text), at+20)])
					break
				}
			}
		}
	}
}

// TestClangCycle: a program in C is sampled, and Clang builds it with the profile made from the
// samples: without a warning, and with the profile's inlining.
func TestClangCycle(t *testing.T) {
	for _, name := range []string{"clang", "perf", "llvm-profdata"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("needs %s: make deps installs it", name)
		}
	}
	clang := append(strings.Fields(documentedClang(t)), "-Wall", "prog.c")
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	filetest.Write(t, "prog.c", []byte(cProgram))
	run(append(clang, "-o", "prog")...)
	if out, err := exec.Command("perf", "record", "-q", "-g", "-e", "task-clock", "-c", "250000", "-o", "perf.data", "./prog").CombinedOutput(); err != nil {
		t.Skipf("needs a machine on which perf may sample (kernel.perf_event_paranoid): %v\n%s", err, out)
	}
	r := scopeview("autofdo", "write", "perf.data", "--binary", "prog", "-o", "prog.afdo")
	if r.code != exitOK {
		t.Fatal(r)
	}
	text := filetest.Read(t, "prog.afdo")
	if got := run("llvm-profdata", "merge", "--sample", "--text", "prog.afdo", "-o", "-"); got != string(text) {
		t.Errorf("llvm-profdata has\n%s\nof\n%s", got, text)
	}
	remarks := run(append(clang, "-fprofile-sample-use=prog.afdo", "-Rpass=inline|sample-profile", "-o", "fast")...)
	if strings.Contains(remarks, "warning") || !strings.Contains(remarks, "'step' inlined into 'main' to match profiling context") {
		t.Errorf("clang says\n%s\nof\n%s", remarks, text)
	}
	if a, b := run("./prog"), run("./fast"); a != b {
		t.Errorf("the builds compute %q and %q", a, b)
	}
	// Go's compiler reads the same samples, although it has none of the functions.
	if r := scopeview("pgo", "show", "perf.data", "--binary", "prog"); r.code != exitOK || !strings.Contains(r.out, "main") || !strings.Contains(r.out, "step") {
		t.Error(r)
	}
}

// documentedClang returns the command, without files, with which docs/pgo.md builds the program to
// be sampled. A flag missing there costs its readers weight: both builds need the lines in which
// functions begin, and the inlined functions.
func documentedClang(t *testing.T) string {
	t.Helper()
	docs := filetest.Read(t, "../../docs/pgo.md")
	builds := regexp.MustCompile(`(?m)^\$ (clang .*) prog\.c( -o prog)?$`).FindAllStringSubmatch(string(docs), -1)
	if len(builds) != 2 {
		t.Fatalf("docs/pgo.md has %d builds by clang, want 2", len(builds))
	}
	for _, b := range builds {
		if !strings.Contains(b[1], "-fdebug-info-for-profiling") || !strings.Contains(b[1], "-gline-tables-only") {
			t.Errorf("docs/pgo.md: %s has not what the profile needs", b[1])
		}
	}
	return builds[0][1]
}

// TestDocsNameClangsFlags checks the parts that need no clang.
func TestDocsNameClangsFlags(t *testing.T) {
	documentedClang(t)
	if r := scopeview("autofdo", "--help"); !strings.Contains(r.out, "-fdebug-info-for-profiling") {
		t.Error(r)
	}
}

const cProgram = `#include <stdio.h>

static unsigned state = 1;

__attribute__((noinline)) static unsigned rare(unsigned n) { return n / 3 + 7; }

unsigned step(unsigned n) {
	for (int i = 0; i < 50; i++) {
		state = state * 1664525u + 1013904223u;
		if (state < 1000)
			n += rare(state);
		else
			n ^= state >> 3;
	}
	return n;
}

int main(void) {
	unsigned n = 0;
	for (int i = 0; i < 5000000; i++)
		n += step(n);
	printf("%u\n", n);
	return 0;
}
`
