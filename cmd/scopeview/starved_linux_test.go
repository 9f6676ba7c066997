package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// starvedEnv makes this test's program record itself, with two goroutines that compute.
const starvedEnv = "SCOPEVIEW_STARVED"

func computeRecorded(path string) error {
	if err := scope.Start(path, gotrace.With()); err != nil {
		return err
	}
	done := make(chan int)
	for range 2 {
		go func() {
			sum := 0
			for end := time.Now().Add(time.Second); time.Now().Before(end); {
				for i := range 1000 {
					sum += i
				}
			}
			done <- sum
		}()
	}
	<-done
	<-done
	return scope.Stop()
}

// TestStarvedByALimit runs a program that wants two CPUs in a cgroup limited to a tenth of one, and
// checks that the doctor reports the limit.
func TestStarvedByALimit(t *testing.T) {
	if path := os.Getenv(starvedEnv); path != "" {
		if err := computeRecorded(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	group := quota(t, 10_000, 100_000)
	path := filepath.Join(t.TempDir(), "x.scope")
	c := exec.Command("/bin/sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$1" -test.run '^TestStarvedByALimit$'`, group, os.Args[0])
	c.Env = append(os.Environ(), starvedEnv+"="+path, "GOMAXPROCS=2")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := scopeview("doctor", path, "--json")
	var doc doctor.Report
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatalf("%v: %v", r, err)
	}
	s := doc.Starved
	if s == nil || s.Got > 0.3 || s.Share < 0.5 || s.Quota < 0.2 || !strings.Contains(s.Text, "the cgroup's CPU limit took") {
		t.Errorf("%+v", s)
	}
	if text := scopeview("doctor", path).out; !strings.HasPrefix(text, "starved: The program got 0.") {
		t.Errorf("it is not the first line of\n%s", text)
	}
}

// quota makes a cgroup whose threads together may run us µs in each period.
func quota(t *testing.T, us, period int) string {
	t.Helper()
	name := "scopeview-test-" + strconv.Itoa(os.Getpid())
	for _, v := range []struct{ root, file, text string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", strconv.Itoa(us)},
		{"/sys/fs/cgroup", "cpu.max", strconv.Itoa(us) + " " + strconv.Itoa(period)},
	} {
		dir := filepath.Join(v.root, name)
		if _, err := os.Stat(filepath.Join(v.root, "cgroup.procs")); err != nil || os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if err := os.Remove(dir); err == nil || errors.Is(err, fs.ErrNotExist) || time.Now().After(end) {
					return
				}
			}
		})
		if os.WriteFile(filepath.Join(dir, v.file), []byte(v.text), 0o644) == nil {
			return dir
		}
	}
	t.Skip("no cgroup with a CPU limit can be made here: that takes root and the controller")
	return ""
}
