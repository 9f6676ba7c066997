package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
)

// longestTask runs an action and returns the longest task of the page's thread until nothing is awaited any
// more, in ms; below 50 ms it is 0.
const longestTask = `(async () => {
	const tasks = [], seen = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration)));
	seen.observe({ type: "longtask" });
	const rest = (ms) => new Promise((go) => setTimeout(go, ms));
	const began = performance.now();
	await (async () => { %s })();
	do await rest(150); while (document.querySelector("[aria-busy=true]") && performance.now() - began < 60000);
	const took = performance.now() - began;
	await rest(200);
	seen.disconnect();
	return { longest: Math.max(0, ...tasks), took };
})()`

// acts has the actions of a user of a page, in their order.
var acts = []struct{ name, js string }{
	{"panning", `for (let k = 0; k < 20; k++) { scopeview.pan((scopeview.aim.to - scopeview.aim.from) * 0.1); await rest(30); }`},
	{"zooming", `for (let k = 0; k < 30; k++) { scopeview.zoomAt(scopeview.model.end * 0.4, k < 15 ? 0.7 : 1.4); await rest(30); }`},
	{"the whole again", `scopeview.seeAll();`},
	{"a range", `const { end } = scopeview.model; scopeview.setRange({ from: end * 0.3, to: end * 0.6 });`},
	{"a range of one row", `const { end } = scopeview.model, row = scopeview.model.rows()[0]; if (row) scopeview.setRange({ from: end * 0.2, to: end * 0.7 }, new Set(["g" + row.key]));`},
	{"no range", `scopeview.setRange(null);`},
	{"executions of a name", `const { model } = scopeview; scopeview.showRuns(model.name(model.base.name[0]));`},
	{"searching", `const box = document.getElementById("search-text"); for (const text of ["p", "pa", "par", "dur>1us"]) { box.value = text; box.dispatchEvent(new Event("input", { bubbles: true })); await rest(300); } box.value = ""; box.dispatchEvent(new Event("input", { bubbles: true }));`},
	{"colours by thread", `scopeview.setColorBy("thread"); await rest(200); scopeview.setColorBy("name");`},
	{"rows by thread", `scopeview.setBy("thread"); await rest(500); scopeview.setBy("goroutine");`},
	{"folding everything", `scopeview.collapseAll(); await rest(300); scopeview.collapseAll();`},
	{"filtering rows", `const box = document.getElementById("row-filter"); for (const text of ["w", "wait>1ms", ""]) { box.value = text; box.dispatchEvent(new Event("input", { bubbles: true })); await rest(300); }`},
}

// tasks measures how long the page does not respond while a user works on a trace.
func (b *bench) tasks(group, address string) error {
	p, err := open(b.chromium, address)
	if err != nil {
		return err
	}
	defer p.Close()
	return b.tasksOf(group, p)
}

func (b *bench) tasksOf(group string, p *browser.Page) error {
	time.Sleep(2 * time.Second)
	var opening float64
	if err := p.Eval(`new Promise((go) => new PerformanceObserver((list) => go(Math.max(0, ...list.getEntries().map((e) => e.duration)))).observe({ type: "longtask", buffered: true }) ?? setTimeout(() => go(0), 1000))`, &opening); err != nil {
		return err
	}
	b.add(row{group: group, name: "opening: longest task", value: opening, must: 50, unit: "ms"})
	var views []string
	if err := p.Eval(`[...document.querySelectorAll("[role=tab]")].map((tab) => tab.id)`, &views); err != nil {
		return err
	}
	list := acts
	for _, id := range views {
		list = append(list, struct{ name, js string }{"the tab " + id, fmt.Sprintf("document.getElementById(%q)?.click();", id)})
	}
	for _, a := range list {
		var got struct{ Longest, Took float64 }
		if err := p.Eval(fmt.Sprintf(longestTask, a.js), &got); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		b.add(row{group: group, name: a.name + ": longest task", value: got.Longest, must: 50, unit: "ms", note: fmt.Sprintf("below 50 ms it is 0; it took %.1f s", got.Took/1000)})
	}
	return nil
}

// servedTasks is tasks for a trace that is served.
func (b *bench) servedTasks(group string) error {
	trace, err := b.record("many", 10_000_000)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	_, err = b.served(trace, func(p *browser.Page) error { return b.tasksOf(group, p) })
	return err
}

// fileTasks is tasks for the file of a program's trace.
func (b *bench) fileTasks(group, program string, n int) error {
	trace, err := b.record(program, n)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	html := filepath.Join(b.dir, "tasks.html")
	if _, err := b.tool.Run("html", trace, "-o", html); err != nil {
		return err
	}
	defer os.Remove(html)
	return b.tasks(group, "file://"+html)
}
