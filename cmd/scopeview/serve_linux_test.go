package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// heedHangup makes programs started by the test heed SIGHUP, which they would ignore under nohup.
func heedHangup(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(c) })
}

// fakeOpener puts an xdg-open into a directory that writes its process number and its argument into
// the returned pipe, and keeps running.
func fakeOpener(t *testing.T, bin string) (pipe string) {
	t.Helper()
	pipe = filepath.Join(bin, "opened")
	for _, name := range []string{pipe, pipe + "2"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := "#!/bin/sh\necho $$ \"$@\" >" + pipe + "\nread never <" + pipe + "2\n"
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return pipe
}

// whatOpened reads the opener's output, and ends the opener with the test.
func whatOpened(t *testing.T, pipe string) (path string) {
	t.Helper()
	b := filetest.Read(t, pipe)
	var pid int
	if _, err := fmt.Sscan(string(b), &pid, &path); err != nil || strings.Count(string(b), " ") != 1 {
		t.Fatalf("the opener got %q", b)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	return path
}

// TestServeOpens: --open passes the desktop's opener a page that redirects to the address, and is
// removed at the end; without an opener, serve says so and continues.
func TestServeOpens(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	t.Setenv("HOME", home)
	v := serve(t, t.TempDir(), "--open")
	if code, errs := v.ends(); code != exitOK || !strings.Contains(errs, "open the address yourself") {
		t.Errorf("exit %d, %q", code, errs)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	pipe := fakeOpener(t, bin)
	v = serve(t, t.TempDir(), "--open")
	path := whatOpened(t, pipe)
	newest := strings.Replace(v.url, "/?", "/newest?", 1)
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), `<a href="`+newest+`">`) {
		t.Errorf("opened %q, %v; want %s", b, err, newest)
	}
	if code, errs := v.ends(); code != exitOK || errs != "" {
		t.Errorf("exit %d, %q", code, errs)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestG28Open: while a real serve --open and its browser run, no other user finds the token in a
// command line, an environment or a file; the page is removed when it was followed, and when a
// signal ends serve before that.
func TestG28Open(t *testing.T) {
	heedHangup(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{0, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		bin, home := t.TempDir(), t.TempDir()
		pipe := fakeOpener(t, bin)
		cmd := exec.Command(self, "serve", t.TempDir(), "--open")
		cmd.Env = []string{asTool + "=1", "PATH=" + bin, "HOME=" + home, "TMPDIR=" + home}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		defer time.AfterFunc(time.Minute, func() { cmd.Process.Kill() }).Stop()
		address, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || len(u.Query().Get("token")) != 32 {
			t.Fatalf("%s: %v", address, err)
		}
		path := whatOpened(t, pipe)
		if sig == 0 {
			othersFind(t, u.Query().Get("token"), home)
			ownersAlone(t, path, home)
			u.Path = "/newest"
			followPage(t, path, u)
			emptied(t, home)
			sig = syscall.SIGTERM
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after %v: %v", sig, err)
		}
		emptied(t, home)
	}
}

// othersFind checks that user nobody does not find a secret.
func othersFind(t *testing.T, secret, home string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("what another user finds is not looked at: that needs root")
		return
	}
	cmd := exec.Command("/bin/sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ; ls -lR \"$1\"; find \"$1\" -type f -exec cat {} +", "sh", home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin"}
	found, _ := cmd.Output() // most files can't be read
	if !strings.Contains(string(found), "/xdg-open\x00") {
		t.Errorf("it does not see the opener: %d bytes", len(found))
	}
	if at := strings.Index(string(found), secret); at >= 0 {
		t.Errorf("another user finds the token in %q", found[max(0, at-100):at+len(secret)])
	}
}

// ownersAlone checks that only the owner can access a file and its directory.
func ownersAlone(t *testing.T, path, home string) {
	t.Helper()
	if rel, err := filepath.Rel(home, path); err != nil || strings.HasPrefix(rel, ".") {
		t.Errorf("it opens %s", path)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v; %v", name, st, want, err)
		}
	}
}

// followPage follows a page's redirection, as a browser does.
func followPage(t *testing.T, path string, to *url.URL) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), to.String()) != 2 {
		t.Fatalf("%s, %v", b, err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A browser sends these for the page that a file leads to, which then leads to itself without
	// the token.
	outer := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	inner := outer.Clone()
	inner.Set("Sec-Fetch-Site", "same-origin")
	clean := *to
	clean.RawQuery = ""
	for _, step := range []struct {
		to     *url.URL
		header http.Header
	}{{to, outer}, {&clean, inner}} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", step.to.String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = step.header
		resp, err := (&http.Client{Jar: jar}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || step.to != to && resp.Request.URL.RawQuery != "" {
			t.Errorf("%s: %d", resp.Request.URL, resp.StatusCode)
		}
	}
}

// emptied waits until a directory is empty.
func emptied(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 && time.Now().After(deadline) {
			t.Fatalf("left are %v, %v", left, err)
		}
		if len(left) == 0 {
			return
		}
	}
}

// TestRunServeEnds: the page of run --serve stays after the program has ended, also by Ctrl-C, and
// ends with the first signal that asks the tool to end, sent before or after.
func TestRunServeEnds(t *testing.T) {
	heedHangup(t)
	l := launching(t, `-- go.mod --
module example.com/short

go 1.22
-- main.go --
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	fmt.Println("here")
	bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(5)
}
`)
	bin := t.TempDir() // an opener that does nothing
	if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		during, after syscall.Signal
		code          int
	}{
		{0, syscall.SIGHUP, 5},
		{syscall.SIGTERM, 0, 128 + int(syscall.SIGTERM)},
		{syscall.SIGINT, syscall.SIGTERM, 128 + int(syscall.SIGINT)},
		{0, syscall.SIGINT, 5},
		{0, syscall.SIGTERM, 5},
		{syscall.SIGHUP, 0, 128 + int(syscall.SIGHUP)},
	} {
		if i == 3 && !faultfs.Full() { // each builds the program
			break
		}
		cmd := exec.Command(os.Args[0], "run", "--serve", ".")
		cmd.Dir, cmd.Env = l.dir, append(l.env, "PATH="+bin+":"+os.Getenv("PATH"))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		errs, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "here\n" {
			t.Fatalf("the program says %q, %v", line, err)
		}
		if c.during != 0 {
			err = cmd.Process.Signal(c.during)
		} else {
			err = in.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(errs)
		for lines.Scan() {
			if c.after != 0 && strings.Contains(lines.Text(), "the program has ended") {
				if err := cmd.Process.Signal(c.after); err != nil {
					t.Fatal(err)
				}
				late.Reset(20 * time.Second)
			}
		}
		_ = cmd.Wait()
		if got := cmd.ProcessState; got.ExitCode() != c.code {
			t.Errorf("%v while the program ran, %v when it had ended: %v, want exit code %d", c.during, c.after, got, c.code)
		}
		late.Stop()
	}
}
