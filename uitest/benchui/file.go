package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
)

const rounds = 5 // number of rounds for medians

// file measures a page with its data in it.
func (b *bench) file(group string) error {
	trace, err := b.record("many", 1_000_000)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	html := filepath.Join(b.dir, "many.html")
	var took []float64
	for range rounds {
		begin := time.Now()
		if _, err := b.tool.Run("html", trace, "-o", html); err != nil {
			return err
		}
		took = append(took, time.Since(begin).Seconds())
	}
	st, err := os.Stat(html)
	if err != nil {
		return err
	}
	b.add(row{group: group, name: "size of the file", value: float64(st.Size()) / 1e6, must: 12, unit: "MB"})
	b.add(row{group: group, name: "written in", value: median(took), must: 2, unit: "s"})
	if err := b.opening(group, "first complete picture after opening", "file://"+html, 0.5); err != nil {
		return err
	}
	return b.frames(group, "file://"+html)
}

// rows measures a page with 10,000 rows, in folded groups and in open groups that show all
// their rows.
func (b *bench) rows(group string) error {
	trace, err := b.record("crowd", 10_000)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	html := filepath.Join(b.dir, "crowd.html")
	if _, err := b.tool.Run("html", trace, "-o", html); err != nil {
		return err
	}
	if err := b.opening(group, "first complete picture after opening", "file://"+html, 1.5); err != nil {
		return err
	}
	for _, groups := range []struct{ are, first string }{
		{"groups shut", "0"},
		{"groups open", `for (const a of scopeview.arranged) if (a.kind === "group") { scopeview.toggleRow("opened", a.id); scopeview.showMore(a.id, true); } 0`},
	} {
		if err := b.frames(group, "file://"+html, groups.are, groups.first); err != nil {
			return err
		}
	}
	return nil
}

// opening measures the time from opening a page to its first picture.
func (b *bench) opening(group, name, address string, must float64) error {
	var opened []float64
	for range rounds {
		p, err := open(b.chromium, address)
		if err != nil {
			return err
		}
		ms, err := firstPicture(p)
		p.Close()
		if err != nil {
			return err
		}
		opened = append(opened, ms/1000)
	}
	b.add(row{group: group, name: name, value: median(opened), must: must, unit: "s", note: fmt.Sprintf("worst %.2f s", slices.Max(opened))})
	return nil
}

// pair measures a page of two traces.
func (b *bench) pair(group string) error {
	trace, err := b.record("many", 1_000_000)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	html := filepath.Join(b.dir, "pair.html")
	if _, err := b.tool.Run("html", trace, "--with", trace, "-o", html); err != nil {
		return err
	}
	defer os.Remove(html)
	return b.opening(group, "first complete picture of both after opening", "file://"+html, 2.5)
}

func open(in *browser.Browser, address string) (*browser.Page, error) {
	p, err := in.Open(address, browser.View{})
	if err != nil {
		return nil, err
	}
	if err := p.Ready(2 * time.Minute); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// firstPicture returns the time at which the page had drawn everything, in ms from its
// opening.
func firstPicture(p *browser.Page) (ms float64, err error) {
	err = p.Eval(`performance.getEntriesByName("scopeview-first-picture")[0].startTime`, &ms)
	return ms, err
}

// meter measures the time from each frame with drawing to the next frame. The browser does
// not pace frames here, so that is the total time of a frame, in all of the browser's
// processes.
const meter = `
window.meter = { between: [], stop: false };
scopeview.frames.length = 0;
(function frame(last, known) {
	requestAnimationFrame(() => {
		const now = performance.now(), drawn = scopeview.frames.length;
		if (drawn > known) meter.between.push(now - last);
		if (!meter.stop) frame(now, drawn);
	});
})(performance.now(), 0);
0`

// frames measures panning, zooming and scrolling, with held keys and with the wheel. how, if
// given, describes the state of the page, with the JavaScript that sets it.
func (b *bench) frames(group, address string, how ...string) error {
	state := ""
	if len(how) > 0 {
		state = ", " + how[0]
	}
	unpaced, err := browser.Start(browser.Windowed, browser.Unpaced)
	if err != nil {
		return err
	}
	defer unpaced.Close()
	p, err := open(unpaced, address)
	if err != nil {
		return err
	}
	defer p.Close()
	if len(how) > 0 {
		if err := p.Eval(how[1], nil); err != nil {
			return err
		}
	}
	time.Sleep(time.Second) // the work after the first picture is not measured
	motions := []motion{
		{"panning", func(n int) error {
			if n%40 < 20 {
				return p.Hold("KeyD", 2)
			}
			return p.Hold("KeyA", 2)
		}},
		{"zooming", func(n int) error {
			turn := -60.0
			if n%80 >= 40 {
				turn = 60
			}
			return p.Wheel(browser.Width*0.6, browser.Height*0.4, 0, turn, browser.Ctrl)
		}},
	}
	var scrolls bool // rows of folded groups may all be visible
	if err := p.Eval(`(({scrollHeight, clientHeight}) => scrollHeight > 2 * clientHeight)(document.getElementById("rows"))`, &scrolls); err != nil {
		return err
	}
	if len(how) > 0 && scrolls {
		motions = append(motions, motion{"scrolling", func(n int) error {
			turn := 80.0
			if n%6 >= 3 {
				turn = -80
			}
			return p.Wheel(browser.Width*0.6, browser.Height*0.4, 0, turn)
		}})
	}
	for _, m := range motions {
		got, err := m.measure(p)
		if err != nil {
			return err
		}
		b.add(row{group: group, name: m.name + state + ": median frame", value: median(got.Between), must: 16, unit: "ms", note: fmt.Sprintf("drawing %.1f ms of it, over %d frames", median(got.Draws), len(got.Between))})
		b.add(row{group: group, name: m.name + state + ": worst frame", value: slices.Max(got.Between), must: 50, unit: "ms", note: fmt.Sprintf("worst drawing %.1f ms", slices.Max(got.Draws))})
	}
	return nil
}

// motion is an input that moves the view by one step.
type motion struct {
	name string
	move func(n int) error
}

// drawn has the times of a page's frames, in ms.
type drawn struct{ Between, Draws []float64 }

// measure moves the page's view until two hundred frames were drawn.
func (m *motion) measure(p *browser.Page) (got drawn, err error) {
	if err := p.Press("Digit0"); err != nil {
		return got, err
	}
	if m.name == "panning" {
		if err := p.Hold("KeyW", 3); err != nil {
			return got, err
		}
	}
	time.Sleep(500 * time.Millisecond)
	if err := p.Eval(meter, nil); err != nil {
		return got, err
	}
	for n, have := 0, 0; have < 200; n++ {
		if n > 5000 {
			return got, fmt.Errorf("%s: only %d frames were drawn", m.name, have)
		}
		if err := m.move(n); err != nil {
			return got, err
		}
		if n%20 == 19 {
			if err := p.Eval("meter.between.length", &have); err != nil {
				return got, err
			}
		}
	}
	err = p.Eval("meter.stop = true, {between: meter.between, draws: scopeview.frames}", &got)
	return got, err
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

// flame measures how long the page does not respond while it builds the Flame tab of n
// scopes.
func (b *bench) flame(group string, n int) error {
	trace, err := b.record("many", n)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	html := filepath.Join(b.dir, "flame.html")
	if _, err := b.tool.Run("html", trace, "-o", html, "--max", fmt.Sprint(n)); err != nil {
		return err
	}
	defer os.Remove(html)
	p, err := open(b.chromium, "file://"+html)
	if err != nil {
		return err
	}
	defer p.Close()
	var reduced bool
	if err := p.Eval("scopeview.model.reduced", &reduced); err != nil {
		return err
	}
	if reduced {
		return fmt.Errorf("the page has not each of the %d scopes", n)
	}
	idle := func(view string) error {
		return p.Wait(fmt.Sprintf("document.querySelector(%q) && !document.querySelector(%q)", view, view+" [aria-busy=true]"), 2*time.Minute)
	}
	if err := idle(".summary"); err != nil {
		return err
	}
	if err := p.Eval(`(window.tasks = [], new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: "longtask" }), 0)`, nil); err != nil {
		return err
	}
	begin := time.Now()
	if err := p.Press("Digit3"); err != nil {
		return err
	}
	if err := idle(".flames"); err != nil {
		return err
	}
	took := time.Since(begin)
	if err := p.Settle(); err != nil {
		return err
	}
	var longest float64
	if err := p.Eval("Math.max(0, ...tasks)", &longest); err != nil {
		return err
	}
	b.add(row{group: group, name: "flame: longest task", value: longest, must: 50, unit: "ms", note: fmt.Sprintf("below 50 ms it is 0; it took %.1f s", took.Seconds())})
	return nil
}
