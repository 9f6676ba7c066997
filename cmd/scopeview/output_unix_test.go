//go:build unix

package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG29Outputs: only the user can read the tool's files, with any umask.
func TestG29Outputs(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, "x.scope", tracetest.Hostile(t))
	if err := os.WriteFile("x.txt", []byte("header\nstate closed=1 tick=9000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, mux, url := served(t)
	data := filetest.Read(t, "x.scope")
	bad := make(chan string, 100)
	mux.HandleFunc("GET /x/download", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ours, "1")
		// More than the client reads at first, so that it has created its file.
		w.Write(data[:len(data)/2])
		w.(http.Flusher).Flush()
		if s := temporary(); s != "" {
			bad <- s
		}
		w.Write(data[len(data)/2:])
	})
	n := 0
	for _, umask := range []int{0, 0o022, 0o277, 0o777} {
		if umask&0o700 != 0 && os.Getuid() != 0 {
			continue // only root could use such a directory
		}
		for _, args := range []string{
			"export csv x.scope", "html x.scope", "export chrome x.scope", "export perfetto x.scope", "dump x.scope", "stacks x.scope --format pprof", "stacks x.scope --format folded",
			"verify x.scope", "anonymize x.scope", "assemble x.txt", "snapshot x.scope", "export csv " + url + "/x/",
		} {
			old := syscall.Umask(umask)
			r := scopeview(append(strings.Fields(args), "-o", "out")...)
			syscall.Umask(old)
			st, err := os.Stat("out")
			if err != nil || st.Mode() != 0o600 {
				t.Errorf("umask %03o: %s: %v, %v: %v", umask, args, st, err, r)
			}
			os.Remove("out")
			n++
		}
	}
	close(bad)
	for s := range bad {
		t.Errorf("while a download came there was %s", s)
	}
	left(t)
	files(t, ".", "x.scope", "x.txt")
	t.Logf("G29: %d outputs of the tool under 4 umasks: each has mode 0600", n)
}

// temporary waits for a download's directory and file, and reports others' access to them.
func temporary() string {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		var found []string
		open := false
		_ = filepath.Walk(os.Getenv("TMPDIR"), func(path string, st os.FileInfo, err error) error {
			if err == nil && path != os.Getenv("TMPDIR") {
				found = append(found, st.Mode().String()+" "+path)
				open = open || st.Mode()&0o077 != 0
			}
			return nil
		})
		switch {
		case open:
			return strings.Join(found, ", ")
		case len(found) == 2:
			return ""
		}
	}
	return "no file"
}

// TestG29Planted: a file or link that another user has put in the output's place is neither
// followed nor written into.
func TestG29Planted(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making files of another user needs root")
	}
	t.Chdir(t.TempDir())
	filetest.Write(t, "x.scope", tracetest.Hostile(t))
	if err := os.WriteFile("victim", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	plants := []string{"link", "dangling", "fifo", "file"}
	for name, err := range map[string]error{
		"link": os.Symlink("victim", "link"), "dangling": os.Symlink("none", "dangling"), "fifo": syscall.Mkfifo("fifo", 0o666), "file": os.WriteFile("file", nil, 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(name, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"export csv", "html", "export chrome", "export perfetto", "dump", "anonymize", "snapshot"} {
		for _, name := range plants {
			r := scopeview(command, "x.scope", "-o", name)
			switch {
			case name == "file" && command != "snapshot":
				// It is replaced by a new file of ours.
				st, err := os.Lstat(name)
				if err != nil || st.Mode() != 0o600 || st.Sys().(*syscall.Stat_t).Uid != 0 || r.code != exitOK {
					t.Errorf("%s over a file: %v, %v, %v", command, st.Mode(), err, r)
				}
			case r.code != exitFailed || !strings.Contains(r.err, "give another name") && command != "snapshot" || r.out != "":
				t.Errorf("%s into a planted %s: %v", command, name, r)
			}
		}
	}
	if b, err := os.ReadFile("victim"); err != nil || string(b) != "text" {
		t.Errorf("the link's target has %q, %v", b, err)
	}
	files(t, ".", "dangling", "fifo", "file", "link", "victim", "x.scope")
	t.Logf("G29: 7 commands, each into a link, a dangling link and a pipe of another user: refused, nothing followed")
}

// TestOutputNamed: output named by -o is written to a device, to a named pipe or one passed by the
// shell, through a link of the user, and over a file of the user.
func TestOutputNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	filetest.Write(t, "x.scope", tracetest.Hostile(t))
	want := scopeview("export", "csv", "x.scope").out
	for name, err := range map[string]error{
		"link": os.Symlink("target", "link"), "dangling": os.Symlink("made", "dangling"), "fifo": syscall.Mkfifo("fifo", 0o600),
		"target": os.WriteFile("target", []byte("text"), 0o644), "file": os.WriteFile("file", []byte("text"), 0o644),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	for name, reads := range map[string]string{"file": "file", "link": "target", "dangling": "dangling"} {
		r := scopeview("export", "csv", "x.scope", "-o", name)
		if b, err := os.ReadFile(reads); r.code != exitOK || err != nil || string(b) != want {
			t.Errorf("-o %s: %d bytes, want %d: %v, %v", name, len(b), len(want), err, r)
		}
	}
	if st, err := os.Lstat("link"); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", st, err)
	}
	if r := scopeview("export", "csv", "x.scope", "-o", os.DevNull); r.code != exitOK {
		t.Errorf("-o %s: %v", os.DevNull, r)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fd := "/dev/fd/" + strconv.Itoa(int(w.Fd()))
	for _, name := range []string{"fifo", fd} {
		from := r
		got := make(chan string, 1)
		go func() {
			if name == "fifo" {
				from, _ = os.Open(name)
			}
			b, _ := io.ReadAll(from)
			got <- string(b)
		}()
		res := scopeview("export", "csv", "x.scope", "-o", name)
		if name == fd {
			w.Close()
		}
		if res.code != exitOK {
			t.Fatalf("-o %s: %v", name, res)
		}
		if b := <-got; b != want {
			t.Errorf("-o %s: %d bytes, want %d", name, len(b), len(want))
		}
	}
	files(t, ".", "dangling", "fifo", "file", "link", "target", "x.scope")
}
