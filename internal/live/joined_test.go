package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// processes writes the traces of two processes of one machine, which the list has in this
// order.
func processes(t *testing.T, dir string) {
	t.Helper()
	for i, name := range []string{"back", "front"} {
		text := strings.ReplaceAll(described, "pid=4711 ", fmt.Sprintf("pid=%d mono=%d id=%032x ", 100+i, 1000+i, i+1))
		text = strings.ReplaceAll(text, "wall=1700000000000000000\nstate", fmt.Sprintf("wall=%d\nstate", 1700000000000000000+i))
		text = strings.ReplaceAll(text, "<b>slow", name)
		tracetest.Write(t, filepath.Join(dir, name+".scope"), strings.Replace(text, `info "program" "/bin/shop"`, `info "program" "/bin/`+name+"\"\ninfo \"boot\" \"b\"", 1))
	}
}

// joinedPage requests a joint timeline until it is finished, and returns its path.
func (r *running) joinedPage(query string) (path string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		resp := r.raw("GET /joined?" + query + " HTTP/1.1\r\nHost: " + r.addr + "\r\nCookie: " + r.s.guard.cookie + "=" + r.s.guard.token + "\r\nConnection: close\r\n\r\n")
		if resp.StatusCode == http.StatusSeeOther {
			return resp.Header.Get("Location")
		}
		if text := body(r.t, resp); resp.StatusCode != 200 || !strings.Contains(text, "http-equiv=\"refresh\"") {
			r.t.Fatalf("%d: %s", resp.StatusCode, text)
		}
	}
	r.t.Fatal("it is not made in time")
	return ""
}

// TestJoined: several traces are one timeline, which is made once, and removed with the
// server.
func TestJoined(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	processes(t, dir)
	r := start(t, dir, always)
	listOf(t, r)
	path := r.joinedPage("t=0&t=1&t=0")
	if again := r.joinedPage("t=0&t=1"); again != path || path != "/t/2/" {
		t.Errorf("it is at %s, and at %s", path, again)
	}
	made, _ := filepath.Glob(filepath.Join(os.TempDir(), "scopeview-*", "*.scope"))
	if len(made) != 1 {
		t.Fatalf("%q were made", made)
	}
	tr, err := trace.OpenFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]int{}
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		p, _ := tr.ProcessOf(e.Goid)
		names[fmt.Sprint(p.PID, " ", tr.Name(e.Name))]++
		return true
	}); err != nil {
		t.Error(err)
	}
	tr.Close()
	if len(names) != 4 || names["100 fast"] != 2 || names["101 fast"] != 2 || names["100 back"] != 1 || names["101 front"] != 1 {
		t.Errorf("the timeline has %v", names)
	}
	if resp := r.get(path + "api/whole"); resp.StatusCode != 200 {
		t.Errorf("%d: %s", resp.StatusCode, body(t, resp))
	}
	if l := listOf(t, r); len(l.Traces) != 2 {
		t.Errorf("the list is %q", l.lines())
	}
	// Another trace of that name gives another timeline. Of many the oldest are removed.
	for i := range joinedKept + 1 {
		at := time.Now().Add(time.Duration(i-100) * time.Second)
		if err := os.Chtimes(filepath.Join(dir, "back.scope"), at, at); err != nil {
			t.Fatal(err)
		}
		if next := r.joinedPage("t=0&t=1"); next != fmt.Sprintf("/t/%d/", 3+i) {
			t.Errorf("another one is at %s", next)
		}
	}
	if made, _ = filepath.Glob(filepath.Join(os.TempDir(), "scopeview-*", "*.scope")); len(made) != joinedKept {
		t.Errorf("%q are kept", made)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
}

// TestNotJoined: traces that can't be joined give an error, and leave no files.
func TestNotJoined(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := t.TempDir()
	processes(t, dir)
	b := filetest.Read(t, filepath.Join(dir, "back.scope"))
	for _, name := range []string{"same.scope", "gone.scope"} {
		filetest.Write(t, filepath.Join(dir, name), b)
	}
	startedAt(t, filepath.Join(dir, "old.scope"), 100)
	r := start(t, dir, always)
	number := map[string]int{}
	for _, x := range listOf(t, r).Traces {
		number[x.Name] = x.Number
	}
	if err := os.Remove(filepath.Join(dir, "gone.scope")); err != nil {
		t.Fatal(err)
	}
	of := func(a, b string) string { return fmt.Sprintf("t=%d&t=%d", number[a], number[b]) }
	for _, c := range []struct {
		query  string
		status int
		text   string
	}{
		{"", 400, "2 to 64"}, {"t=0", 400, "2 to 64"}, {"t=0&t=0", 400, "2 to 64"}, {"t=0&t=77", 404, "tick some"}, {"t=-1&t=0", 404, "tick some"}, {"t=x&t=0", 404, "tick some"},
		{of("back.scope", "same.scope"), 422, "needs two or more traces"}, {of("back.scope", "old.scope"), 422, "days apart"}, {of("back.scope", "gone.scope"), 422, "can't be merged into one timeline"},
	} {
		status, text := 200, ""
		for deadline := time.Now().Add(patience); status == 200 && time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			resp := r.get("/joined?" + c.query)
			status, text = resp.StatusCode, body(t, resp)
		}
		if status != c.status || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d %s, want %d with %q", c.query, status, text, c.status, c.text)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(os.TempDir(), "scopeview-*", "*")); len(made) != 0 {
		t.Errorf("%q are left", made)
	}
	// A timeline without waiting requests is abandoned.
	j := &joined{done: make(chan struct{})}
	if _, err := r.s.join(context.Background(), j, []*book{r.s.shelf.book(number["back.scope"]), r.s.shelf.book(number["front.scope"])}); !errors.Is(err, errNobody) {
		t.Errorf("of one that nobody asks for: %v", err)
	}
}
