//go:build !scope_off && !scope_pure && !race

package gotrace_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/armed"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/procstate"
	"github.com/scopeview/scopeview/scope"
)

// looked in the environment makes the test binary a program under inspection, in the way of
// replaces; childOf makes it that program's child.
const looked, childOf = "GOTRACE_LOOKED", "GOTRACE_CHILD"

// moments lists when it is inspected.
var moments = []string{"before", "during", "after"}

func init() {
	if os.Getenv(childOf) != "" {
		s, err := procstate.Self()
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(s)
		}
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	if how, path, ok := strings.Cut(os.Getenv(looked), "\n"); ok {
		os.Unsetenv(looked)
		beLooked(how, path)
		os.Exit(0)
	}
}

// beLooked records, and prints the state of its child and its own at each moment; then it waits
// for the inspection from outside.
func beLooked(how, path string) {
	in := bufio.NewReader(os.Stdin)
	for _, when := range moments {
		var err error
		switch {
		case when == "during" && recordings[how] != nil:
			err = scope.Start(path, recordings[how]...)
			works()
		case when == "after" && recordings[how] != nil:
			err = scope.Stop()
		}
		works() // on the existing threads
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childOf+"=1")
		out, e := child.Output()
		self, e2 := procstate.Self()
		if err != nil || e != nil || e2 != nil {
			fmt.Println(err, e, e2)
			os.Exit(1)
		}
		b, _ := json.Marshal(self)
		fmt.Printf("%s%s\n", out, b)
		_, _ = in.ReadString('\n')
	}
}

// seen holds the states found at one moment.
type seen struct{ child, self, outside procstate.State }

// looks starts the program, and inspects it.
func looks(t *testing.T, how string) map[string]seen {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), looked+"="+how+"\n"+filepath.Join(t.TempDir(), "x.scope"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	lines := json.NewDecoder(out)
	all := map[string]seen{}
	for _, when := range moments {
		var s seen
		if err := lines.Decode(&s.child); err != nil {
			t.Fatal(err)
		}
		if err := lines.Decode(&s.self); err != nil {
			t.Fatal(err)
		}
		if s.outside, err = procstate.Of(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		all[when] = s
		fmt.Fprintln(in)
	}
	return all
}

// TestG39Armed inspects a process and its children before, during and after a recording. What is
// added meanwhile is in the list of package armed, everything in the list is found, and nothing
// is left.
func TestG39Armed(t *testing.T) {
	faultfs.Children(t)
	found := map[string]bool{}
	for how := range recordings {
		t.Run(how, func(t *testing.T) {
			all := looks(t, how)
			before, during, after := all["before"], all["during"], all["after"]
			for _, when := range moments[1:] {
				if d := all[when].child.Differs(before.child); d != nil {
					t.Errorf("a child finds %s\n%s", when, strings.Join(d, "\n"))
				}
			}
			for _, name := range slices.Sorted(maps.Keys(during.self)) {
				for _, line := range append(during.self.More(name, before.self), during.outside.More(name, before.outside)...) {
					if thing := listed(name, line); thing.What != "" && how != "alone" {
						found[thing.What] = true
					} else {
						t.Errorf("there is more during the recording, and it is not listed: %s: %q", name, line)
					}
				}
				for _, line := range append(after.self.More(name, before.self), after.outside.More(name, before.outside)...) {
					if !listed(name, line).Left {
						t.Errorf("there is more after the recording: %s: %q", name, line)
					}
				}
			}
		})
	}
	for _, thing := range armed.List {
		if thing.Kind != "" && !thing.Rare && !found[thing.What] {
			t.Errorf("not seen: %s", thing.What)
		}
	}
}

// listed returns the thing in the list to which a line of a state belongs.
func listed(kind, line string) armed.Thing {
	for _, thing := range armed.List {
		if thing.Kind == kind && strings.Contains(line, thing.Text) {
			return thing
		}
	}
	return armed.Thing{}
}
