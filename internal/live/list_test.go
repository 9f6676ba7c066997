package live

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, nil)
	if text := body(t, r.get("/")); !strings.Contains(text, "No trace is in this directory") || !strings.Contains(text, "scope.Start(") {
		t.Errorf("an empty directory says %s", text)
	}
	elsewhere := t.TempDir()
	startedAt(t, filepath.Join(elsewhere, "secret.scope"), 1)
	startedAt(t, filepath.Join(dir, "new.scope"), 300)
	startedAt(t, filepath.Join(dir, "old.scope"), 100)
	startedAt(t, filepath.Join(dir, "other.txt"), 100)
	hostile := `<img src=x onerror=alert(1)>" 'a&b.scope`
	if runtime.GOOS != "windows" {
		startedAt(t, filepath.Join(dir, hostile), 200)
		for _, target := range []string{filepath.Join(elsewhere, "secret.scope"), "new.scope"} {
			if err := os.Symlink(target, filepath.Join(dir, "link-"+filepath.Base(target))); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, filepath.Join(dir, "dir.scope")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.scope"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text.scope"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	resp := r.get("/")
	text := body(t, resp)
	for _, unwanted := range []string{"secret", "link-", "sub.scope", "dir.scope", "other.txt", "<img", ">text.scope"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("the list has %q: %s", unwanted, text)
		}
	}
	if !strings.Contains(text, "1 file is called *.scope and can&#39;t be read as a trace") {
		t.Errorf("the file that is no trace is not told of: %s", text)
	}
	at := func(part string) int {
		i := strings.Index(text, part)
		if i < 0 {
			t.Errorf("%q is missing in %s", part, text)
		}
		return i
	}
	if at(">new.scope<") > at(">old.scope<") {
		t.Error("the newest is not first")
	}
	if runtime.GOOS != "windows" {
		at("&lt;img src=x")
	}
	if csp := resp.Header.Get("Content-Security-Policy"); !strings.Contains(csp, hashOf(listCSS)) || !strings.Contains(text, "<style>"+listCSS+"</style>") {
		t.Errorf("the policy %s does not have the style", csp)
	}
}

// TestShelfKeepsNumbers: a trace's number stays its own, and a file that became
// a link is not followed.
func TestShelfKeepsNumbers(t *testing.T) {
	dir := t.TempDir()
	s, err := newShelf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	startedAt(t, filepath.Join(dir, "a.scope"), 100)
	items, _, err := s.list()
	if err != nil || len(items) != 1 || items[0].Number != 0 {
		t.Fatalf("%v, %v", items, err)
	}
	startedAt(t, filepath.Join(dir, "b.scope"), 200)
	items, _, err = s.list()
	if err != nil || len(items) != 2 || items[0].Name != "b.scope" || items[0].Number != 1 || items[1].Number != 0 {
		t.Fatalf("%v, %v", items, err)
	}
	a := s.book(0)
	f, err := a.open()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Remove(filepath.Join(dir, "a.scope")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b.scope", filepath.Join(dir, "a.scope")); err != nil {
		t.Fatal(err)
	}
	if f, err := a.open(); err == nil {
		f.Close()
		t.Error("a link was followed")
	}
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB", 5 << 40: "5.0 TiB", 1 << 60: "1048576.0 TiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
