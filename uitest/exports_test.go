package uitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
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
