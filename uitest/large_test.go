package uitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/uitest/browser"
)

// TestLarge: a trace whose scopes the server does not keep can be panned, zoomed to single
// scopes and searched. While it is read the page shows the progress, and nothing moves.
func TestLarge(t *testing.T) {
	if chromium == nil {
		t.Skip(browser.ErrMissing)
	}
	const scopes = 4_500_000 // 144 MB
	path := filepath.Join(t.TempDir(), "large.scope")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = bulk.Trace{Shape: bulk.Irregular, Scopes: scopes, Seed: 1}.Write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		t.Fatal(err)
	}
	tb := show(t, serve(t, path), browser.View{})
	if err := tb.Wait("!scopeview.model.meta.loading && scopeview.model.state === 'ended'", time.Minute); err != nil {
		t.Fatal(err)
	}
	if n := tb.number("scopeview.model.meta.scopes"); n != scopes {
		t.Errorf("the page has %v scopes", n)
	}

	// This machine may have read it before the page opened: what is shown meanwhile is shown again.
	top := tb.number("document.getElementById('rows').getBoundingClientRect().top")
	tb.read(nil, "(scopeview.model.meta.loading = {share: 0.25, left: 3.2e9}, scopeview.model.changed(), 0)")
	tb.await("document.getElementById('reading').value === 0.25 && !document.getElementById('reading').hidden")
	if s := tb.text("#facts"); !strings.HasPrefix(s, "reading: 25 %, about 4 s left") {
		t.Errorf("the head says %q", s)
	}
	if now := tb.number("document.getElementById('rows').getBoundingClientRect().top"); now != top {
		t.Errorf("the rows move from %v to %v", top, now)
	}
	tb.read(nil, "(delete scopeview.model.meta.loading, scopeview.model.changed(), 0)")
	tb.await("document.getElementById('reading').hidden && document.getElementById('live').textContent === 'The trace has been read.'")

	end := tb.number("scopeview.model.end")
	for _, width := range []float64{end / 20, end / 1000, 20_000} {
		tb.read(nil, "(scopeview.setView(%v, %v), 0)", end/3, end/3+width)
		tb.await("scopeview.model.details.shown && scopeview.model.details.shown.from <= %v && scopeview.model.details.shown.res <= %v", end/3, width/500)
		tb.press("KeyD", "KeyD")
		v := tb.view()
		tb.await("scopeview.model.details.shown?.from <= %v && scopeview.model.details.shown.to >= %v", v.From, v.To)
	}
	tb.await("scopeview.model.details.shown.res === 0")
	var name string
	tb.read(&name, "(() => { const b = scopeview.model.details.shown.batch; return scopeview.model.name(b.name[0]); })()")
	tb.search(name)
	tb.await("scopeview.hits?.found > 0 || /[1-9]/.test(document.getElementById('search-count').textContent)")
	tb.press("Enter")
	if s := tb.selected(); s == nil || s.Name != name {
		t.Errorf("Enter selects %+v, want a scope %s", s, name)
	}
	if n := tb.number("scopeview.selection.batch.many(scopeview.selection.i)"); n != 1 {
		t.Errorf("Enter leaves single scopes for one bar of %v", n)
	}
}
