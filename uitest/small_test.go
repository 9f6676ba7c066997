package uitest

import (
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/uitest/browser"
)

// TestSmallWindows: in a small window nothing of the head lies over its neighbour, and open
// menus and all tabs are within the window.
func TestSmallWindows(t *testing.T) {
	browsers(t, func(t *testing.T) {
		page := fileURL(pageOf(t, storeTrace(t)))
		for _, v := range []browser.View{{Width: 640, Height: 900}, {Width: 1000, Height: 640}} {
			t.Run(fmt.Sprintf("%dx%d", v.Width, v.Height), func(t *testing.T) {
				tb := show(t, page+"#q=parse", v)
				tb.await(`document.getElementById("search-count").textContent !== ""`)
				var bad []string
				tb.read(&bad, `(() => {
					const seen = (all) => [...document.querySelectorAll(all)].filter((e) => e.checkVisibility() && e.offsetWidth > 2);
					const name = (e) => e.id || e.textContent;
					const parts = seen("#top > *, #top > .row-filter > input, #search > *, #switches > *");
					const bad = [];
					for (const a of parts) for (const b of parts) {
						const p = a.getBoundingClientRect(), q = b.getBoundingClientRect();
						if (a === b || a.contains(b) || b.contains(a)) continue;
						if (p.left < q.right - 0.5 && q.left < p.right - 0.5 && p.top < q.bottom - 0.5 && q.top < p.bottom - 0.5) bad.push(name(a) + " lies over " + name(b));
					}
					for (const menu of document.querySelectorAll(".menu")) {
						menu.open = true;
						for (const e of seen(".menu[open] .items, #top > *, #panel [role=tab]")) {
							const { left, right, bottom } = e.getBoundingClientRect();
							if (left < 0 || right > innerWidth || bottom > innerHeight) bad.push(name(e) + " leaves the window");
						}
						menu.open = false;
					}
					return bad;
				})()`)
				if len(bad) > 0 {
					t.Errorf("%q", bad)
				}
			})
		}
	})
}
