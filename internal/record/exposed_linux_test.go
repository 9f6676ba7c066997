//go:build !scope_off

package record_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// Actions of the test binary in another process: it records into exposedPath until its
// standard input ends, or tries to access it.
const (
	exposedAct  = "SCOPE_EXPOSED_ACT"
	exposedPath = "SCOPE_EXPOSED_PATH"
)

// TestExposed is that process, and not a test.
func TestExposed(t *testing.T) {
	path := os.Getenv(exposedPath)
	switch act := os.Getenv(exposedAct); act {
	case "":
		t.Skip("it is started by others")
	case "pry":
		pry(path)
	case "container":
		contained(t, path)
	case "setuid", "chroot":
		fmt.Println("= " + leave(t, act, path))
	default:
		kind := map[string]BackingKind{"disk": DiskBacking, "shm": ShmBacking, "heap": HeapBacking}[act]
		if err := Start(path, WithBacking(kind), shortTicks()); err != nil {
			fmt.Printf("= refused: exists %t, permission %t\n", errors.Is(err, ErrExists), errors.Is(err, fs.ErrPermission))
			return
		}
		Task("a")()
		fmt.Println("= " + Path())
		_, _ = io.Copy(io.Discard, os.Stdin)
		for range 1000 {
			Task("b")()
		}
		finish(t)
	}
}

// pry tries to access another user's file.
func pry(path string) {
	got := "nothing"
	for what, f := range map[string]func() error{
		"read":     func() error { f, err := os.Open(path); f.Close(); return err },
		"write":    func() error { f, err := os.OpenFile(path, os.O_RDWR, 0); f.Close(); return err },
		"truncate": func() error { return os.Truncate(path, 0) },
		"chmod":    func() error { return os.Chmod(path, 0o666) },
	} {
		if f() == nil {
			got = what
		}
	}
	fmt.Println("= got " + got)
}

// exposed is such a process.
type exposed struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  string // its first line
	rest  chan string
}

func expose(t *testing.T, exe, act, path string, attr *syscall.SysProcAttr) *exposed {
	t.Helper()
	faultfs.Children(t)
	x := &exposed{cmd: exec.Command(exe, "-test.run=^TestExposed$"), rest: make(chan string, 1)}
	x.cmd.Env = append(os.Environ(), exposedAct+"="+act, exposedPath+"="+path)
	x.cmd.Dir, x.cmd.SysProcAttr, x.cmd.Stderr = filepath.Dir(exe), attr, os.Stderr
	var err error
	if x.stdin, err = x.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := x.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := x.cmd.Start(); err != nil {
		t.Skip("no such process can be started here: ", err)
	}
	kill := time.AfterFunc(time.Minute, func() { x.cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); x.cmd.Process.Kill() })
	r := bufio.NewReader(out)
	for !strings.HasPrefix(x.said, "= ") {
		if x.said, err = r.ReadString('\n'); err != nil {
			t.Fatalf("the process said %q: %v, %v", x.said, err, x.cmd.Wait())
		}
	}
	x.said = strings.TrimSpace(strings.TrimPrefix(x.said, "= "))
	go func() { b, _ := io.ReadAll(r); x.rest <- string(b) }()
	return x
}

// end makes it stop its recording.
func (x *exposed) end(t *testing.T) {
	t.Helper()
	x.stdin.Close()
	rest := <-x.rest
	if err := x.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, rest)
	}
}

// sound checks that a file is a complete trace with the records of TestExposed, and
// returns its header.
func sound(t *testing.T, path string) format.Header {
	t.Helper()
	n := 0
	tr := each(t, path, func(tr *trace.Trace, e *trace.Event) { n++ })
	if verify(t, path); n != 1001 || !tr.Closed() {
		t.Errorf("%s: %d records, closed %t", path, n, tr.Closed())
	}
	return tr.Header()
}

// exposedBackings returns the backings for TestExposed.
func exposedBackings() []string {
	if !record.HaveDisk {
		return []string{"heap"}
	}
	return []string{"disk", "shm", "heap"}
}

// TestG29OtherUser: in a directory that others own, or may write, a trace is new and
// the user's own, or there is none.
func TestG29OtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	const we, they = 65533, 65534
	dir, err := os.MkdirTemp("/tmp", "scopeview-test-") // accessible to everyone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	at := func(name string) string { return filepath.Join(dir, name) }
	as := func(uid uint32) *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(dir, 0o755))
	exe, err := os.ReadFile(os.Args[0])
	must(err)
	must(os.WriteFile(at("exe"), exe, 0o755))
	must(os.Chmod(at("exe"), 0o755))
	for name, mode := range map[string]os.FileMode{"closed": 0o700, "theirs": 0o777, "sticky": 0o777 | os.ModeSticky} {
		must(os.Mkdir(at(name), 0o700))
		must(os.Chmod(at(name), mode))
		must(os.Chown(at(name), they, they))
	}
	must(os.WriteFile(at("victim"), []byte("text"), 0o600))
	must(os.Chown(at("victim"), we, we))
	planted := map[string]error{
		"link": os.Symlink(at("victim"), at("theirs/link")), "dangling": os.Symlink(at("theirs/none"), at("theirs/dangling")),
		"fifo": unix.Mkfifo(at("theirs/fifo"), 0o666), "file": os.WriteFile(at("theirs/file"), nil, 0o666),
	}
	for name, err := range planted {
		must(err)
		must(os.Lchown(at("theirs/"+name), they, they))
	}
	tries, refused := 0, 0
	for _, backing := range exposedBackings() {
		for path, want := range map[string]string{
			"closed": "refused: exists false, permission true", "closed/new": "refused: exists false, permission true", "closed/new/": "refused: exists false, permission true",
			"theirs/link": "refused: exists true, permission false", "theirs/dangling": "refused: exists true, permission false",
			"theirs/fifo": "refused: exists true, permission false", "theirs/file": "refused: exists true, permission false",
			"theirs": "", "theirs/new" + backing: "", "theirs/made" + backing + "/": "", "sticky": "",
		} {
			tries++
			trailing := strings.HasSuffix(path, "/")
			full := at(path)
			if trailing {
				full += "/"
			}
			x := expose(t, at("exe"), backing, full, as(we))
			if want != "" {
				if x.said != want {
					t.Errorf("%s, %s: %s, want %s", backing, path, x.said, want)
				}
				refused++
				x.end(t)
				continue
			}
			st, err := os.Lstat(x.said)
			if err != nil || st.Mode() != 0o600 || st.Sys().(*syscall.Stat_t).Uid != we {
				t.Errorf("%s, %s: %s: %v, %v", backing, path, x.said, st, err)
			}
			if trailing {
				if st, err := os.Lstat(at(path)); err != nil || st.Mode().Perm() != 0o700 {
					t.Errorf("%s, %s: %v, %v", backing, path, st, err)
				}
			}
			spy := expose(t, at("exe"), "pry", x.said, as(they))
			if spy.said != "got nothing" {
				t.Errorf("%s, %s: another user %s", backing, path, spy.said)
			}
			spy.end(t)
			x.end(t)
			sound(t, x.said)
		}
	}
	if b, err := os.ReadFile(at("victim")); err != nil || string(b) != "text" {
		t.Errorf("the link's target has %q, %v", b, err)
	}
	if got := ls(t, at("closed")); len(got) != 0 {
		t.Errorf("the closed directory has %q", got)
	}
	if slices.Contains(ls(t, at("theirs")), "none") {
		t.Error("the dangling link was followed")
	}
	t.Logf("G29: %d recordings in another user's directories, %d refused, the others new, 0600, and closed to that user", tries, refused)
}

// TestG30: two processes with the same id, as in two containers, record into the same
// directory: each has a trace of its own.
func TestG30(t *testing.T) {
	apart := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 { // if not root, in a user namespace, if the system allows it
		apart.Cloneflags |= syscall.CLONE_NEWUSER
		apart.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		apart.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	n := 0
	for _, backing := range exposedBackings() {
		dir := t.TempDir()
		var all []*exposed
		for range 3 {
			all = append(all, expose(t, os.Args[0], backing, dir, apart)) // while the others record
		}
		one := filepath.Join(dir, "one.scope")
		all = append(all, expose(t, os.Args[0], backing, one, apart))
		late := expose(t, os.Args[0], backing, one, apart)
		if late.said != "refused: exists true, permission false" {
			t.Errorf("%s: the second with the same path: %s", backing, late.said)
		}
		late.end(t)
		ids := map[[16]byte]bool{}
		for _, x := range all {
			x.end(t)
			h := sound(t, x.said)
			ids[h.ID] = true
			if h.PID != 1 {
				t.Errorf("%s: recorded by process %d, want 1", x.said, h.PID)
			}
		}
		if got := ls(t, dir); len(got) != len(all) || len(ids) != len(all) {
			t.Errorf("%s: %d files with %d identities, want %d: %q", backing, len(got), len(ids), len(all), got)
		}
		n += len(all)
	}
	t.Logf("G30: %d traces of processes that are all number 1, at once in a directory each backing; all whole, none shared", n)
}

// TestG31Memory: the pages with records are excluded from core dumps and not copied
// into children, however often a ring has wrapped.
func TestG31Memory(t *testing.T) {
	switch {
	case faultfs.Emulated():
		t.Skip("the emulator does not show what was advised")
	case !record.HaveDisk:
		t.Skip("this build maps nothing")
	}
	mapped := 0
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithRing(4<<20), shortTicks())
		for i := range 3 * (4 << 20) / format.RecordSize {
			if i%atOnce == 0 {
				breathe(t)
			}
			Task("a")()
		}
		names := []string{Path(), hotOf(t, Path())}
		// A new mapping, with nothing in it yet, may not be marked yet.
		found := 0
		until(t, "all mappings marked", func() (marked bool) {
			found, marked = marks(t, names)
			return marked
		})
		if want := !record.Current.Load().Pool().Heap(); (found > 0) != want {
			t.Errorf("%d mappings of ours, want any: %t", found, want)
		}
		mapped += found
	})
	t.Logf("G31: %d mappings of two recordings: each without core dump and fork", mapped)
}

// marks returns the number of mappings of the named files, and whether all are excluded
// from core dumps and children.
func marks(t *testing.T, names []string) (found int, all bool) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	all = true
	ours := false
	for line := range strings.Lines(string(b)) {
		if i := strings.IndexByte(line, '/'); i >= 0 && strings.Contains(line, "-") {
			ours = slices.Contains(names, strings.TrimSpace(line[i:]))
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && ours {
			found++
			all = all && strings.Contains(flags, " dd") && strings.Contains(flags, " dc")
			ours = false
		}
	}
	return found, all
}

// leave is a process that stops when it can't remove its hot file.
func leave(t *testing.T, act, path string) (said string) {
	if err := Start(path, WithBacking(ShmBacking), shortTicks()); err != nil {
		t.Fatal(err)
	}
	for range 100_000 {
		Task("filler")()
	}
	Task("a")()
	var err error
	if act == "setuid" {
		err = syscall.Setuid(65534)
	} else {
		err = syscall.Chroot(filepath.Dir(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	err = Stop()
	return fmt.Sprintf("Stop: %v, LastError: %v", err, Stats().LastError)
}
