package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
)

// jumps moves to parts of a trace, each half as wide as the previous one, and to the part
// after each. It returns the times until each was drawn at full resolution, in ms.
const jumps = `(async () => {
	const end = scopeview.model.end, took = {jumps: [], pans: []};
	const frame = () => new Promise(requestAnimationFrame), { details } = scopeview.model;
	const look = async (from, width) => {
		const begin = performance.now();
		scopeview.setView(Math.round(from), Math.round(from + width));
		do await frame(); while (details.busy || details.next);
		await frame();
		return performance.now() - begin;
	};
	for (let width = end / 2; width > 20000; width /= 2) {
		const from = (end - width) * 0.37;
		took.jumps.push(await look(from, width));
		took.pans.push(await look(from + width, width));
	}
	return took;
})()`

// walk uses a large trace on its page like a user, down to single scopes, with a search.
// Pictures are written where the flag says.
func (b *bench) walk(group string, p *browser.Page) error {
	var end float64
	if err := p.Eval("scopeview.model.end", &end); err != nil {
		return err
	}
	if err := b.picture(p, "whole"); err != nil {
		return err
	}
	var took struct{ Jumps, Pans []float64 }
	if err := p.Eval(jumps, &took); err != nil {
		return err
	}
	for _, m := range []struct {
		what  string
		times []float64
	}{{"half as much in sight, drawn after", took.Jumps}, {"a window further, drawn after", took.Pans}} {
		b.add(row{group: group, name: m.what, value: median(m.times), unit: "ms", note: fmt.Sprintf("of %d, down to single scopes; the slowest %.0f ms", len(m.times), slices.Max(m.times))})
	}
	if err := b.picture(p, "scopes"); err != nil {
		return err
	}
	return b.find(group, p)
}

// find searches for a visible scope and selects it.
func (b *bench) find(group string, p *browser.Page) error {
	var name string
	if err := p.Eval("scopeview.model.name(scopeview.model.details.shown.batch.name[0])", &name); err != nil {
		return err
	}
	if err := p.Press("Slash"); err != nil {
		return err
	}
	if err := p.Wait("document.activeElement?.id === 'search-text'", time.Minute); err != nil {
		return err
	}
	begin := time.Now()
	if err := p.Type(name); err != nil {
		return err
	}
	if err := p.Wait("/[1-9]/.test(document.getElementById('search-count').textContent)", time.Minute); err != nil {
		return err
	}
	found := time.Since(begin)
	begin = time.Now()
	if err := p.Press("Enter"); err != nil {
		return err
	}
	text, err := json.Marshal(name)
	if err != nil {
		return err
	}
	if err := p.Wait("(s => s && scopeview.model.name(s.batch.name[s.i]) === "+string(text)+")(scopeview.selection)", time.Minute); err != nil {
		return err
	}
	if err := p.Settle(); err != nil {
		return err
	}
	b.add(row{group: group, name: "a name is typed and found after", value: found.Seconds() * 1e3, unit: "ms",
		note: fmt.Sprintf("%d letters; Enter selects one, %.0f ms", len(name), time.Since(begin).Seconds()*1e3)})
	return b.picture(p, "found")
}

// picture takes a picture of the page, if requested by the flag.
func (b *bench) picture(p *browser.Page, name string) error {
	if b.pictures == "" {
		return nil
	}
	time.Sleep(500 * time.Millisecond) // animations end
	if err := p.Wait("!scopeview.model.details.busy && !scopeview.model.details.next", time.Minute); err != nil {
		return err
	}
	if err := p.Settle(); err != nil {
		return err
	}
	png, err := p.Picture()
	if err == nil {
		png, err = browser.Small(png)
	}
	if err != nil {
		return fmt.Errorf("picture %s: %w", name, err)
	}
	return os.WriteFile(filepath.Join(b.pictures, name+".png"), png, 0o644)
}
