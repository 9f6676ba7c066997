package uitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/traces"
)

// saved clicks on an entry of the menu Export and returns the file that comes, once whole
// reports that it is.
func saved(t *testing.T, tb *tab, entry, suffix string, whole func(b []byte) bool) []byte {
	t.Helper()
	into := t.TempDir()
	tb.check(tb.SaveDownloads(into))
	tb.read(nil, `Array.from(document.querySelectorAll("#switches button")).find((b) => b.textContent.startsWith(%s)).click()`, quote(entry))
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(into, "*."+suffix))
		if err != nil || len(files) == 0 {
			continue
		}
		if b, err := os.ReadFile(files[0]); err == nil && whole(b) {
			return b
		}
	}
	t.Fatalf("%s: nothing whole was downloaded", entry)
	return nil
}

// TestExports: the selected range as a trace for other viewers, and the picture.
func TestExports(t *testing.T) {
	tb := showTrace(t, storeTrace(t), browser.View{})
	parse := tb.find("parse", traces.Longest)
	tb.read(nil, "(scopeview.setRange({from: %v, to: %v}), 0)", parse.Start, parse.Start+parse.Dur)
	var doc struct {
		TraceEvents []struct {
			Name, Ph string
			Ts, Dur  float64
			Args     map[string]any
		}
	}
	b := saved(t, tb, "Trace", "json", json.Valid)
	check(t, json.Unmarshal(b, &doc))
	found := 0
	for _, e := range doc.TraceEvents {
		if e.Ph == "X" && (e.Ts*1000 > parse.Start+parse.Dur || (e.Ts+e.Dur)*1000 < parse.Start-1) {
			t.Errorf("%+v is not in the range", e)
		}
		if e.Name == "parse" && e.Args["file"] == traces.Longest && e.Ts*1000 == parse.Start && e.Dur*1000 == parse.Dur {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the longest parse is there %d times, in %d events", found, len(doc.TraceEvents))
	}
	tb.read(nil, "(scopeview.setRange({from: %v, to: %v}, new Set(['g%d'])), 0)", parse.Start, parse.Start+parse.Dur, parse.Key)
	lines := strings.Split(strings.TrimSpace(string(saved(t, tb, "CSV", "csv", func(b []byte) bool { return bytes.HasSuffix(b, []byte("\n")) }))), "\n")
	for _, line := range lines[1:] {
		if !strings.Contains(line, fmt.Sprintf(",%d,", parse.Key)) {
			t.Errorf("the CSV of goroutine %d has the line %s", parse.Key, line)
		}
	}
	if says := tb.text("#live"); len(lines) < 2 || says != "CSV of 1 row saved." {
		t.Errorf("the CSV of one row has %d lines, and the page says %q", len(lines), says)
	}
	picture, err := png.Decode(bytes.NewReader(saved(t, tb, "Picture", "png", func(b []byte) bool { _, err := png.Decode(bytes.NewReader(b)); return err == nil })))
	check(t, err)
	if n := colours(picture); n < 8 {
		t.Errorf("the picture has %d colours, want the timeline's", n)
	}
}

// TestExcerptExport: a range that is dragged on the axis is saved as a trace, whose reports agree with those
// of the range; a page in a file copies the command.
func TestExcerptExport(t *testing.T) {
	browsers(t, func(t *testing.T) {
		trace := storeTrace(t)
		tb := show(t, serve(t, trace), browser.View{})
		ruler := tb.box("#ruler canvas")
		tb.check(tb.Drag(ruler.X+0.3*ruler.Width, ruler.Y+5, ruler.X+0.6*ruler.Width, ruler.Y+5))
		tb.await("scopeview.range !== null")
		from, to := int64(math.Floor(tb.number("scopeview.range.from"))), int64(math.Ceil(tb.number("scopeview.range.to")))
		file := filepath.Join(t.TempDir(), "saved.scope")
		whole := func(b []byte) bool { return len(b) > 0 && len(b)%(64<<10) == 0 }
		check(t, os.WriteFile(file, saved(t, tb, "Trace (.scope)", "scope", whole), 0o600))
		tb.await("document.querySelector('#live').textContent.endsWith(' saved.')")
		if s := run(t, "verify", file); !strings.Contains(s, "sound") {
			t.Errorf("%s", s)
		}
		span := []string{"--from", fmt.Sprintf("%dns", from), "--to", fmt.Sprintf("%dns", to), "--json"}
		var doc struct {
			Excerpt struct{ From_ns, To_ns int64 }
			Scopes  []any
		}
		check(t, json.Unmarshal([]byte(run(t, append([]string{"top", file}, span...)...)), &doc))
		if doc.Excerpt.From_ns != from || doc.Excerpt.To_ns != to || len(doc.Scopes) == 0 {
			t.Errorf("it is %+v, and has %d names; dragged were %d to %d", doc.Excerpt, len(doc.Scopes), from, to)
		}
		var of struct{ Scopes []any }
		check(t, json.Unmarshal([]byte(run(t, append([]string{"top", trace}, span...)...)), &of))
		if a, b := fmt.Sprint(of.Scopes), fmt.Sprint(doc.Scopes); a != b {
			t.Errorf("top of the trace:\n%s\nof the excerpt:\n%s", a, b)
		}
		// While the server writes, another click cancels.
		tb.read(nil, `(window.asked = fetch, window.fetch = (path, o) => path.includes("api/excerpt") ? new Promise((_, fail) => { o.signal.onabort = () => fail(new Error("aborted")); }) : asked(path, o), 0)`)
		click := func(text string) {
			t.Helper()
			tb.read(nil, `Array.from(document.querySelectorAll("#switches button")).find((b) => b.textContent === %s).click()`, quote(text))
		}
		click("Trace (.scope)")
		tb.await(`document.querySelector("#switches [aria-busy=true]")?.textContent === "Cancel: Trace (.scope)"`)
		click("Cancel: Trace (.scope)")
		tb.await(`document.querySelector("#live").textContent === "The copy was cancelled." && document.querySelector("#switches [aria-busy=true]") === null`)
		// Its own page shows the range.
		tb = show(t, serve(t, file), browser.View{})
		if a, b := tb.number("scopeview.view.from"), tb.number("scopeview.view.to"); int64(a) != from || b < float64(to) || b > float64(to)+0.02*float64(to-from)+1000 {
			t.Errorf("the page of %d to %d shows %v to %v", from, to, a, b)
		}
	})
	tb := showTrace(t, storeTrace(t), browser.View{})
	tb.read(nil, `(window.copied = [], Object.defineProperty(navigator, "clipboard", {value: {writeText: async (s) => { copied.push(s); }}, configurable: true}), 0)`)
	tb.read(nil, "(scopeview.setRange({from: 1000000, to: 2500000}), 0)")
	tb.read(nil, `Array.from(document.querySelectorAll("#switches button")).find((b) => b.textContent === "Trace (.scope)").click()`)
	tb.await("copied.length > 0")
	var copied []string
	tb.read(&copied, "copied")
	if want := "scopeview snapshot " + filepath.Base(storeTrace(t)) + " --from 0.001s --to 0.0025s"; len(copied) != 1 || copied[0] != want {
		t.Errorf("copied is %q, want %q", copied, want)
	}
}
