package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// listOf returns the server's list of the directory.
func listOf(t *testing.T, r *running) List {
	t.Helper()
	resp := r.get("/list.json")
	b := body(t, resp)
	var l List
	if err := json.Unmarshal([]byte(b), &l); err != nil || resp.StatusCode != 200 {
		t.Fatalf("%d: %s: %v", resp.StatusCode, b, err)
	}
	return l
}

// lines formats the list: a name, and after a colon the reason why it can't be shown.
func (l *List) lines() (all []string) {
	for _, x := range l.Traces {
		line := x.Name
		if x.Why != "" {
			line += ": " + x.Why
		}
		all = append(all, line)
	}
	return all
}

// always reads the directory for each request of the list.
func always(s *Server) { s.shelf.listing.wait = 0 }

const hostileName = `<img src=x onerror=alert(1)>" 'a&b.scope`

func TestList(t *testing.T) {
	dir := t.TempDir()
	r := start(t, dir, always)
	if l := listOf(t, r); len(l.Traces) != 0 || l.Dir != dir || l.Schema != "scopeview.serve/1" {
		t.Errorf("an empty directory is %+v", l)
	}
	elsewhere := t.TempDir()
	startedAt(t, filepath.Join(elsewhere, "secret.scope"), 1)
	startedAt(t, filepath.Join(dir, "new.scope"), 300)
	startedAt(t, filepath.Join(dir, "old.scope"), 100)
	startedAt(t, filepath.Join(dir, "other.txt"), 100)
	var links []string
	if runtime.GOOS != "windows" {
		startedAt(t, filepath.Join(dir, hostileName), 200)
		startedAt(t, filepath.Join(dir, "a\x1b[31m\n\xff.scope"), 150)
		for _, target := range []string{"new.scope", filepath.Join(elsewhere, "secret.scope"), "/dev/zero"} {
			name := "link-" + filepath.Base(target) + ".scope"
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			links = append(links, name)
		}
		for name, target := range map[string]string{"dir.scope": elsewhere, "dir": elsewhere, "self": "."} {
			if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "sub.scope"), 0o700); err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "text.scope"), []byte("text"))
	if err := os.WriteFile(filepath.Join(dir, "empty.scope"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := awaitList(t, r, func(l List) bool { return len(l.Traces) > 0 })
	const link = ": It is a symbolic link, which is not followed."
	want := []string{"new.scope", hostileName, "a\x1b[31m\n\uFFFD.scope", "old.scope", "dir.scope" + link, "empty.scope: the file is empty"}
	if runtime.GOOS == "windows" {
		want = []string{"new.scope", "old.scope", "empty.scope: the file is empty"}
	}
	for _, name := range links {
		want = append(want, name+link)
	}
	want = append(want, "sub.scope: It is a directory with a trace's name.", "text.scope: not a scopeview trace")
	if !slices.Equal(l.lines(), want) {
		t.Errorf("the list is\n%q, want\n%q", l.lines(), want)
	}
	// The page itself has no data of the directory, and its policy allows what it needs.
	resp := r.get("/")
	text := body(t, resp)
	for _, unwanted := range []string{"new", "<img", "secret"} {
		if strings.Contains(text, unwanted+".scope") {
			t.Errorf("the page has %q: %s", unwanted, text)
		}
	}
	csp := resp.Header.Get("Content-Security-Policy")
	_, style, _ := strings.Cut(text, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	_, script, _ := strings.Cut(text, `<script type="module">`)
	script, _, _ = strings.Cut(script, "</script>")
	for _, part := range []string{hashOf(style), hashOf(script), "connect-src 'self'", "default-src 'none'"} {
		if !strings.Contains(csp, part) {
			t.Errorf("the policy %s lacks %s", csp, part)
		}
	}
	_, own, _ := strings.Cut(listJS, "numbers.js\";\n")
	if style != listCSS || own == "" || !strings.HasSuffix(script, own) || !strings.Contains(script, "\nfunction span(") || strings.Contains(script, "\nimport ") {
		t.Error("the page lacks its style or its script")
	}
}

// awaitList requests the list until it is as expected: it is updated only now and then.
func awaitList(t *testing.T, r *running, is func(List) bool) List {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		l := listOf(t, r)
		if is(l) {
			return l
		}
		if time.Now().After(deadline) {
			t.Fatalf("the list stays %q", l.lines())
		}
	}
}

// TestListBelow: traces below the directory are listed, up to a depth, without hidden
// directories.
func TestListBelow(t *testing.T) {
	dir := t.TempDir()
	put := func(path string, second int) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		startedAt(t, filepath.Join(dir, path), second)
	}
	deep := strings.Repeat("d/", levelsMax)
	put("a/x.scope", 3)
	put("b/x.scope", 4)
	put(deep+"x.scope", 2)
	put(".hidden/x.scope", 9)
	r := start(t, dir, always)
	want := []string{filepath.FromSlash("b/x.scope"), filepath.FromSlash("a/x.scope"), filepath.FromSlash(deep + "x.scope")}
	l := listOf(t, r)
	if !slices.Equal(l.lines(), want) || l.Unseen {
		t.Errorf("the list is %q, %v", l.lines(), l.Unseen)
	}
	if resp := r.get(fmt.Sprintf("/t/%d/api/whole", l.Traces[2].Number)); resp.StatusCode != 200 {
		t.Errorf("one deep down: %d: %s", resp.StatusCode, body(t, resp))
	}
	put(deep+"d/x.scope", 5)
	put("z/"+deep[2:]+"y.scope", 1) // at the maximum depth, and below
	if l = awaitList(t, r, func(l List) bool { return l.Unseen }); len(l.Traces) != 4 {
		t.Errorf("the list is %q", l.lines())
	}
	// A removed directory removes exactly its own traces.
	if err := os.RemoveAll(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	awaitList(t, r, func(l List) bool { return len(l.Traces) == 3 && l.Traces[0].Name == want[1] })
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	awaitRefusal(t, r)
}

// awaitRefusal requests the list until that fails.
func awaitRefusal(t *testing.T, r *running) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		resp := r.get("/list.json")
		if text := body(t, resp); resp.StatusCode == 500 && strings.Contains(text, "listing the traces") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("of a directory that is gone it says %d", resp.StatusCode)
		}
	}
}

// described has facts of its process, and scopes of two names.
const described = `header rate=1000000000 pid=4711 start=1000 wall=1700000000000000000
state closed=1 tick=900000
chunk blocks
name 2 "fast"
name 3 "<b>slow"
info "program" "/bin/shop"
info "args" "shop -v"
info "host" "web-1"
info "module" "example.com/shop"
info "version" "(devel) 0123456789abcdef0123456789abcdef01234567 (modified)"
info "build_id" "abc/def"
calib ticks=1000 mono=0 wall=1700000000000000000 bracket=20
stop ticks=900000
chunk records owner=0 since=1000
  anchor start=1000 thread=12 cpu=77
  task "fast" g=7 start=2000 stop=3000 cpu=0/unknown
  task "fast" g=7 start=4000 stop=5000 cpu=0/unknown
  task "<b>slow" g=7 start=6000 stop=56000 cpu=0/unknown
`

// TestListDescribes: the list has the facts about the program at once, and slow names later.
func TestListDescribes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "shop.scope")
	tracetest.Write(t, path, described)
	r := start(t, dir, always)
	x := listOf(t, r).Traces[0] // not read yet, unless the reader is early
	begun := time.Unix(1700000000, 0)
	if x.SlowOf != "pending" && x.SlowOf != "whole" || !x.Start.Equal(begun) {
		t.Errorf("%+v", x)
	}
	x = awaitList(t, r, func(l List) bool { return l.Traces[0].SlowOf != "pending" }).Traces[0]
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	x.Start = nil
	want := Trace{
		Name: "shop.scope", Bytes: st.Size(), State: "closed", Program: "/bin/shop", Args: "shop -v", PID: 4711, Host: "web-1", Module: "example.com/shop",
		Build: "0123456789abcdef0123456789abcdef01234567 (modified)", BuildID: "abc/def", SlowOf: "whole",
		Slow: []SlowName{{"<b>slow", 1, 50000, 50000}, {"fast", 2, 2000, 1000}},
	}
	if !reflect.DeepEqual(x, want) {
		t.Errorf("%+v, want\n%+v", x, want)
	}
	// A client with the current list is answered with 304.
	resp := r.get("/list.json")
	body(t, resp)
	req, err := http.NewRequest("GET", "http://"+r.addr+"/list.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: r.s.guard.cookie, Value: r.s.guard.token})
	req.Header.Set("If-None-Match", resp.Header.Get("ETag"))
	again, err := http.DefaultClient.Do(req)
	if err != nil || again.StatusCode != http.StatusNotModified {
		t.Errorf("%v, %v", again, err)
	}
	// Its keys are the documented ones.
	doc := filetest.Read(t, "../../docs/json.md")
	_, section, _ := strings.Cut(string(doc), "\n## The list of a directory\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := strings.Count(section, "\n| `")
	for prefix, typ := range map[string]reflect.Type{"": reflect.TypeFor[List](), "traces[].": reflect.TypeFor[Trace](), "traces[].slow[].": reflect.TypeFor[SlowName]()} {
		for i := range typ.NumField() {
			if typ.Field(i).Type.Kind() == reflect.Slice {
				continue
			}
			rows--
			if key := prefix + typ.Field(i).Tag.Get("json"); !strings.Contains(section, "\n| `"+key+"` |") {
				t.Errorf("docs/json.md lacks %s", key)
			}
		}
	}
	if rows != 0 {
		t.Errorf("docs/json.md has %d keys that are not there", rows)
	}
}

// TestSlowChanges: a trace that was replaced gets its own slow names, but not before
// slowAgain.
func TestSlowChanges(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.scope")
	tracetest.Write(t, path, described)
	s, err := newShelf(dir, analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	next := func() (list *List, more bool) {
		t.Helper()
		s.listing.made = time.Time{}
		s.listing.slow.looked = time.Now()
		if _, err := s.look(); err != nil {
			t.Fatal(err)
		}
		more = s.readNextSlow(context.Background(), func() {})
		list, err := s.look()
		if err != nil {
			t.Fatal(err)
		}
		return list, more
	}
	if l, more := next(); !more || l.Traces[0].Slow[0].Name != "<b>slow" {
		t.Errorf("%+v, %v", l.Traces[0], more)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	tracetest.Write(t, path, strings.ReplaceAll(described, "<b>slow", "slower"))
	if l, more := next(); more || l.Traces[0].Slow[0].Name != "<b>slow" {
		t.Errorf("at once: %+v, %v", l.Traces[0], more)
	}
	s.listing.seen["x.scope"].slow.read = time.Now().Add(-2 * slowAgain)
	if l, more := next(); !more || l.Traces[0].Slow[0].Name != "slower" {
		t.Errorf("later: %+v, %v", l.Traces[0], more)
	}
	s.listing.seen["x.scope"].slow.read = time.Time{}
	s.listing.made, s.listing.slow.looked = time.Time{}, time.Now().Add(-2*slowLooked)
	if _, err := s.look(); err != nil || s.readNextSlow(context.Background(), func() {}) {
		t.Errorf("it is read though nobody looks; %v", err)
	}
}

func TestSlowest(t *testing.T) {
	var sum []*analysis.Stats
	var text strings.Builder
	text.WriteString(strings.Split(described, "chunk records")[0])
	for i := range 9 {
		fmt.Fprintf(&text, "name %d \"n%d\"\n", 10+i, i)
	}
	text.WriteString("chunk records owner=0 since=1000\n  anchor start=1000 thread=12 cpu=77\n")
	at := 2000
	for i := range 9 { // names with higher numbers have longer scopes, those with lower ones larger totals
		for range 1 + (8-i)*2 {
			fmt.Fprintf(&text, "  task \"n%d\" g=7 start=%d stop=%d cpu=0/unknown\n", i, at, at+100*(i+1))
			at += 100*(i+1) + 1
		}
	}
	dir := t.TempDir()
	tracetest.Write(t, filepath.Join(dir, "x.scope"), text.String())
	s, err := newShelf(dir, analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var found slowNames
	s.findSlow(context.Background(), "x.scope", &found)
	var names []string
	for _, n := range found.names {
		names = append(names, n.Name)
	}
	if found.err || found.part || strings.Join(names, " ") != "n8 n7 n6 n4 n3 n5" || len(slowest(sum, nil)) != 0 {
		t.Errorf("%q, %+v", names, found)
	}
	s.findSlow(context.Background(), "gone.scope", &found)
	if !found.err {
		t.Error("a trace that is gone was read")
	}
}

// TestManyTraces: a directory with 5,000 traces is listed within a second, and again at
// once.
func TestManyTraces(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "0.scope")
	tracetest.Write(t, first, described)
	const n = 5000
	for i := 1; i < n; i++ {
		if err := os.Link(first, filepath.Join(dir, fmt.Sprint(i, ".scope"))); err != nil {
			t.Skip("no hard links here: ", err)
		}
	}
	s, err := newShelf(dir, analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, what := range []string{"the first time", "again"} {
		begun := time.Now()
		s.listing.made = time.Time{}
		l, err := s.look()
		if err != nil || len(l.Traces) != n || l.Traces[n-1].Host != "web-1" {
			t.Fatalf("%d traces, %v", len(l.Traces), err)
		}
		t.Logf("%d traces %s: %v", n, what, time.Since(begun).Round(time.Millisecond))
	}
}

// TestShelfKeepsNumbers: a trace keeps its number, and a file that became a link is not
// followed.
func TestShelfKeepsNumbers(t *testing.T) {
	dir := t.TempDir()
	s, err := newShelf(dir, analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	look := func() []Trace {
		t.Helper()
		s.listing.made = time.Time{}
		l, err := s.look()
		if err != nil {
			t.Fatal(err)
		}
		return l.Traces
	}
	startedAt(t, filepath.Join(dir, "a.scope"), 100)
	if items := look(); len(items) != 1 || items[0].Number != 0 {
		t.Fatalf("%+v", items)
	}
	startedAt(t, filepath.Join(dir, "b.scope"), 200)
	if items := look(); len(items) != 2 || items[0].Name != "b.scope" || items[0].Number != 1 || items[1].Number != 0 {
		t.Fatalf("%+v", items)
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

// TestCompareTwo: the address selects the trace to compare a page's with.
func TestCompareTwo(t *testing.T) {
	dir := t.TempDir()
	startedAt(t, filepath.Join(dir, "a.scope"), 100)
	startedAt(t, filepath.Join(dir, "b.scope"), 200)
	r := start(t, dir, always)
	listOf(t, r)
	if resp := r.get("/t/0/?with=1"); resp.StatusCode != 200 || !strings.Contains(body(t, resp), `/t/1/`) {
		t.Errorf("%d", resp.StatusCode)
	}
	for _, with := range []string{"7", "-1", "x", "1%3Cb%3E", "99999999999999999999"} {
		if resp := r.get("/t/0/?with=" + with); resp.StatusCode != 404 || strings.Contains(body(t, resp), "<b>") {
			t.Errorf("with=%s: %d", with, resp.StatusCode)
		}
	}
}

// FuzzList: any file is listed, or has a reason why it can't be shown, and its slow names
// are found or not.
func FuzzList(f *testing.F) {
	path := filepath.Join(f.TempDir(), "x.scope")
	tracetest.Write(f, path, described)
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, uint32(0), byte(0))
	f.Add(b[:len(b)/3], uint32(70_000), byte(1))
	f.Add(b, uint32(65536+64+9), byte(0xff))
	f.Fuzz(func(t *testing.T, b []byte, at uint32, with byte) {
		dir := t.TempDir()
		if len(b) > 0 {
			b = slices.Clone(b)
			b[int(at)%len(b)] ^= with
		}
		filetest.Write(t, filepath.Join(dir, "x.scope"), b)
		s, err := newShelf(dir, analysis.Selection{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		s.listing.slow.looked = time.Now()
		l, err := s.look()
		if err != nil || len(l.Traces) != 1 {
			t.Fatalf("%+v, %v", l, err)
		}
		if x := l.Traces[0]; (x.Why == "") != (x.Start != nil) || len(x.Program) > factMax {
			t.Errorf("%+v", x)
		}
		s.readNextSlow(t.Context(), func() {})
		if _, err := json.Marshal(l); err != nil {
			t.Error(err)
		}
	})
}
