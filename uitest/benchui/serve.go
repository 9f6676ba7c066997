package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/uitest/browser"
)

// limits of a row; 0 is none.
type limits struct {
	seconds, tile float64 // first picture; ms
	mebibytes     float64
	again         float64 // first picture of a second opening, in seconds; it then also walks through the page
}

// tiles fetches tiles like the page: of all widths, each at five fixed places.
const tiles = `(async () => {
	const end = scopeview.model.end, took = [], base = JSON.parse(document.getElementById("config").textContent).base;
	let seed = 7;
	const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
	for (let width = end / 2; width > 10000; width /= 4) {
		for (let n = 0; n < 5; n++) {
			const from = Math.round(random() * (end - width)), begin = performance.now();
			const r = await fetch(base + "api/tile?from=" + from + "&to=" + Math.round(from + width) + "&px=1200");
			if (!r.ok) throw new Error(r.url + ": " + r.status);
			const size = (await r.arrayBuffer()).byteLength;
			took.push([performance.now() - begin, width, size]);
		}
	}
	return took;
})()`

// serveRecorded measures the page of a trace recorded by a program, with its data from the
// tool.
func (b *bench) serveRecorded(group string) error {
	trace, err := b.record("many", 10_000_000)
	if err != nil {
		return err
	}
	defer os.Remove(trace)
	return b.serve(group, 3, limits{seconds: 1, tile: 50, mebibytes: 1024}, trace)
}

// serveLarge measures the page of a generated trace, without the wait of a program for its
// disk.
func (b *bench) serveLarge(group string, scopes int64, packed bool) error {
	path := filepath.Join(b.dir, "large.scope")
	defer os.Remove(path)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = bulk.Trace{Shape: bulk.Irregular, Scopes: scopes, Seed: 1}.Write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	l := limits{seconds: 10, tile: 50, mebibytes: 1024, again: 1}
	if packed {
		to := filepath.Join(b.dir, "packed.scope")
		defer os.Remove(to)
		begin := time.Now()
		if _, err := b.tool.Run("pack", path, "-o", to); err != nil {
			return err
		}
		took := time.Since(begin)
		st, err := os.Stat(to)
		if err != nil {
			return err
		}
		b.add(row{group: group, name: "packed to, per scope", value: float64(st.Size()) / float64(scopes), must: 6, unit: "B", note: fmt.Sprintf("in %.1f s, %.1f M scopes/s", took.Seconds(), float64(scopes)/took.Seconds()/1e6)})
		os.Remove(path)
		path, l.seconds, l.mebibytes, l.again = to, 90, 2048, 90
	}
	return b.serve(group, 1, l, path)
}

// serve measures the page of a trace, rounds times.
func (b *bench) serve(group string, rounds int, l limits, trace string) error {
	var pictures, wholes, all []float64
	var slowest [3]float64
	var peak float64
	for range rounds {
		o, err := b.served(trace, nil)
		if err != nil {
			return err
		}
		pictures, wholes, peak = append(pictures, o.picture), append(wholes, o.whole), max(peak, o.mebibytes)
		for _, t := range o.tiles {
			if all = append(all, t[0]); t[0] > slowest[0] {
				slowest = t
			}
		}
	}
	note := ""
	if rounds > 1 {
		note = fmt.Sprintf("worst of %d %.2f s", rounds, slices.Max(pictures))
	}
	b.add(row{group: group, name: "first picture after the command", value: median(pictures), must: l.seconds, unit: "s", note: note})
	b.add(row{group: group, name: "the trace is read to its end", value: median(wholes), unit: "s", note: "meanwhile the picture becomes finer"})
	b.add(row{group: group, name: "a tile, median", value: median(all), must: l.tile, unit: "ms", note: fmt.Sprintf("of %d", len(all))})
	b.add(row{group: group, name: "a tile, slowest", value: slowest[0], must: l.tile, unit: "ms",
		note: fmt.Sprintf("%v of the trace, %.0f kB", time.Duration(slowest[1]).Round(time.Microsecond), slowest[2]/1e3)})
	b.add(row{group: group, name: "the tool's memory at its peak", value: peak, must: l.mebibytes, unit: "MiB"})
	if l.again > 0 {
		o, err := b.served(trace, func(p *browser.Page) error { return b.walk(group, p) })
		if err != nil {
			return err
		}
		b.add(row{group: group, name: "first picture of another opening", value: o.picture, must: l.again, unit: "s", note: fmt.Sprintf("read to its end after %.2f s", o.whole)})
	}
	return nil
}

// opened has the times of one opening of a page, in s after the command, and those of its
// tiles, in ms, ns of the trace and bytes.
type opened struct {
	picture, whole float64
	tiles          [][3]float64
	mebibytes      float64 // of the tool
}

// served measures once; then, with walk, also walks through the page.
func (b *bench) served(trace string, also func(*browser.Page) error) (o opened, err error) {
	p, err := b.chromium.Open("about:blank", browser.View{}) // a user's browser is already running
	if err != nil {
		return o, err
	}
	defer p.Close()
	begin := time.Now()
	s, err := b.tool.Serve(trace)
	if err != nil {
		return o, err
	}
	defer s.Close()
	if err := p.Go(s.URL); err != nil {
		return o, err
	}
	if err := p.Ready(5 * time.Minute); err != nil {
		return o, err
	}
	var at float64 // ms of Unix time
	if err := p.Eval(`performance.timeOrigin + performance.getEntriesByName("scopeview-first-picture")[0].startTime`, &at); err != nil {
		return o, err
	}
	o.picture = at/1e3 - float64(begin.UnixNano())/1e9
	if err := p.Wait("!scopeview.model.meta.loading", 20*time.Minute); err != nil {
		return o, err
	}
	o.whole = max(time.Since(begin).Seconds(), o.picture)
	time.Sleep(time.Second) // the page draws the last answer
	if err := p.Eval(tiles, &o.tiles); err != nil {
		return o, err
	}
	if also != nil {
		if err := also(p); err != nil {
			return o, err
		}
	}
	o.mebibytes, err = peakMemory(s.PID())
	return o, err
}

// peakMemory returns the maximum resident memory of a process, in MiB.
func peakMemory(pid int) (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmHWM", pid)
}
