//go:build linux

package hot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inContainer names the environment variable that makes the test binary the writer
// of a trace with a Dir of its own. Its value has that directory, the source of its
// hot file, and the trace.
const inContainer = "SCOPEVIEW_TEST_CONTAINER"

func init() {
	if v := os.Getenv(inContainer); v != "" {
		if err := contained(strings.Split(v, "\n")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func contained(v []string) error {
	dir, hot, trace := v[0], v[1], v[2]
	b, err := os.ReadFile(hot)
	if err != nil {
		return err
	}
	if err := syscall.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	f, err := os.OpenFile(trace, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	name := filepath.Join(dir, filepath.Base(hot))
	if err := errors.Join(os.WriteFile(name, b, 0o600), flock(f, syscall.LOCK_EX)); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// TestContainer: a writer in a container with a /dev/shm of its own, whose trace is
// in a directory that both see.
func TestContainer(t *testing.T) {
	inDir(t)
	w := newWriter(t, 3, nil)
	w.attach(1, 1)
	w.put(1, filled(1, 'a'), 0)
	w.kill()
	away := filepath.Join(t.TempDir(), filepath.Base(w.hot.Name()))
	if err := os.Rename(w.hot.Name(), away); err != nil {
		t.Fatal(err)
	}
	joined(t, w, Missing)

	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), inContainer+"="+strings.Join([]string{Dir, away, w.trace.Name()}, "\n"))
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no containers here: ", err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "ready\n" {
		in.Close()
		c.Wait()
		t.Skip("no containers here: ", line)
	}
	want(t, "in a container", read(t, joined(t, w, Joined)), 1, filled(1, 'a'))
	in.Close()
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	joined(t, w, Missing) // it was removed with the container
}
