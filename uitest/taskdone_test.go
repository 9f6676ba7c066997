package uitest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	text "github.com/scopeview/scopeview/internal/show"
)

// slowest: which execution of a scope was the slowest, and why.
func slowest(u *user, all truth, name, lock string) {
	u.t.Helper()
	r := all.named("task", name).longest(u.t)
	u.clickRow(name, "Scopes by name")
	u.isSelected(r)
	u.sees(fmt.Sprintf("the longest of %s of its name", text.Count(len(all.named("task", name)))), durationText(r.dur)+" "+exactText(r.dur))
	var waited float64
	for _, w := range all.named("wait", lock) {
		if w.goid == r.goid && w.start >= r.start && w.end() <= r.end() {
			waited += w.dur
		}
	}
	if waited > 0 {
		u.sees(fmt.Sprintf("%s %s waiting for %s", text.Percent(waited/r.dur), durationText(waited), lock))
	}
}

// isSelected checks that one scope is selected, and its bar in sight.
func (u *user) isSelected(r *csvRecord) {
	u.t.Helper()
	u.await("scopeview.selection !== null")
	s := u.selected()
	if s.Name != r.name || s.Start != r.start || s.Dur != r.dur {
		u.t.Fatalf("after %q is selected %+v, want %+v", u.acts, s, r)
	}
	if v := u.view(); s.Start < v.From || s.Start+s.Dur > v.To {
		u.t.Errorf("after %q the selection %+v is not in the view %v", u.acts, s, v)
	}
	if u.rowY(r) < 0 {
		u.t.Errorf("after %q the row of the selection %+v is not in sight", u.acts, s)
	}
}

// holder: the holder of the lock during the longest wait for it.
func holder(u *user, all truth, lock string) {
	u.t.Helper()
	wait := all.named("wait", lock).longest(u.t)
	held, of := map[string]float64{}, 0.0
	most := ""
	for _, h := range all.named("hold", lock) {
		part := math.Min(h.end(), wait.end()) - math.Max(h.start, wait.start)
		if part <= 0 || h.goid == wait.goid {
			continue
		}
		in := all.those(func(r *csvRecord) bool {
			return r.isScope() && r.goid == h.goid && r.start <= h.start && r.end() >= h.end()
		})
		who := fmt.Sprintf("%s, in %s", h.track, in[len(in)-1].name)
		held[who] += part
		if held[who] > of {
			most, of = who, held[who]
		}
	}
	u.clickRow(lock, "Locks")
	u.sees("Holders during the wait", fmt.Sprintf("%s %s %s", text.Percent(of/wait.dur), durationText(of), most))
	u.isSelected(wait)
}

// goroutineOverTime: what one goroutine did, from its records.
func goroutineOverTime(u *user, own truth) {
	u.t.Helper()
	var busy, waited float64
	for _, r := range own {
		if r.isScope() && r.depth == 0 {
			busy += r.dur
		}
		if r.kind == "wait" {
			waited += r.dur
		}
	}
	u.sees("in scopes", durationText(busy)+",", "recorded waits", durationText(waited))
	u.awaitKnown()
	v := &table{}
	u.read(v, `test.table([...document.querySelectorAll("#view-details table")].find((t) => t.checkVisibility() && t.caption.textContent === "Busiest scopes"))`)
	for _, row := range v.Rows {
		of := own.named("task", row[v.column(u.t, "name")])
		var total float64
		for _, r := range of {
			total += r.dur
		}
		want := [3]string{text.Count(len(of)), durationText(total), durationText(of.longest(u.t).dur)}
		if got := [3]string{row[v.column(u.t, "count")], row[v.column(u.t, "total")], row[v.column(u.t, "max")]}; got != want {
			u.t.Errorf("of %s the row says %q, want %q", row[0], got, want)
		}
	}
}

// above: all that took longer than some ns, of a name or all.
func above(u *user, all truth, condition, name string, ns float64) {
	u.t.Helper()
	found := all.those(func(r *csvRecord) bool {
		return (r.isScope() || r.kind == "wait" || r.kind == "hold") && r.dur > ns && strings.Contains(r.name, name)
	})
	first := found[0]
	for _, r := range found {
		if r.start < first.start {
			first = r
		}
	}
	u.key("Slash")
	u.enter(condition)
	u.sees(fmt.Sprintf("1 of %s", text.Count(len(found))))
	if s := u.selected(); s == nil || s.Start != first.start {
		u.t.Errorf("the first that is found is %+v, want %+v", s, first)
	}
	u.sees(durationText(u.selected().Dur) + " (")
}

// byID: the scopes with an argument.
func byID(u *user, all truth, key string, id int) {
	u.t.Helper()
	found := all.those(func(r *csvRecord) bool {
		var args map[string]any
		_ = json.Unmarshal([]byte(r.args), &args)
		return r.kind != "heartbeat" && fmt.Sprint(args[key]) == fmt.Sprint(float64(id))
	})
	u.key("Slash")
	u.enter(fmt.Sprintf("%s=%d", key, id))
	u.sees(fmt.Sprintf("1 of %d", len(found)), fmt.Sprintf("%s=%d", key, id))
	u.isSelected(found[0])
}

// rowY is the height in the window of the first line of the row that has a scope.
func (u *user) rowY(r *csvRecord) float64 {
	u.t.Helper()
	return u.number(`(() => {
		const c = document.querySelector("#rows canvas").getBoundingClientRect(), { view } = scopeview;
		const x = (%v - view.from) / (view.to - view.from) * c.width;
		for (let y = 0; y < c.height; y++) { const hit = scopeview.rows.at(x, y); if (hit?.strip.kind === "row" && hit.strip.row.key === %d && hit.batch !== undefined) return c.top + y + 3; }
		return -1;
	})()`, r.start+r.dur/2, r.goid)
}

// between: the time from the begin of one scope to the end of another, by a drag. It snaps to what begins or ends
// within some pixels on the rows.
func between(u *user, all truth, a, b *csvRecord) {
	u.t.Helper()
	if a.start > b.start {
		a, b = b, a
	}
	ya, yb := u.rowY(a), u.rowY(b)
	if ya < 0 || yb < 0 {
		u.t.Fatalf("the rows of %+v and %+v are not in sight", a, b)
	}
	u.drag(u.xOf(a.start), ya, u.xOf(b.end()), yb)
	var r *span
	u.read(&r, "scopeview.range && {from: scopeview.range.from, to: scopeview.range.to}")
	if r == nil {
		u.t.Fatal("the drag selects nothing")
	}
	pixel := u.view().width() / u.box(canvas).Width
	ends := func(of *csvRecord, ns float64) bool {
		return len(all.those(func(r *csvRecord) bool { return r.goid == of.goid && r.dur > 0 && (r.start == ns || r.end() == ns) })) > 0
	}
	if math.Abs(r.From-a.start) > 6*pixel || math.Abs(r.To-b.end()) > 6*pixel || !ends(a, r.From) || !ends(b, r.To) {
		u.t.Errorf("the drag from %v to %v selects %+v; a pixel is %v", a.start, b.end(), r, pixel)
	}
	u.sees(durationText(r.width()) + " selected")
}

// pressure: what the heartbeats say of the process's CPUs and of the collector during a selected scope.
func pressure(u *user, all truth, r *csvRecord) {
	u.t.Helper()
	u.isSelected(r)
	type beat struct {
		User   float64 `json:"user_ns"`
		Sys    float64 `json:"sys_ns"`
		Cycles float64 `json:"gc_cycles"`
		at     float64
	}
	var beats []beat
	for _, h := range all.those(func(r *csvRecord) bool { return r.kind == "heartbeat" }) {
		b := beat{at: h.start}
		check(u.t, json.Unmarshal([]byte(h.args), &b))
		beats = append(beats, b)
	}
	low, high, least, most := math.Inf(1), 0.0, 0.0, 0.0
	for k := 1; k < len(beats); k++ {
		was, is := beats[k-1], beats[k]
		if is.at < r.start || was.at > r.end() {
			continue
		}
		used := (is.User + is.Sys - was.User - was.Sys) / (is.at - was.at)
		low, high, most = math.Min(low, used), math.Max(high, used), most+is.Cycles-was.Cycles
		if was.at >= r.start && is.at <= r.end() {
			least += is.Cycles - was.Cycles
		}
	}
	of, cycles := digits3(low)+"–"+digits3(high), fmt.Sprintf("%v to %v", least, most)
	if digits3(low) == digits3(high) {
		of = digits3(low)
	}
	if least == most {
		cycles = fmt.Sprint(least)
	}
	u.sees("process CPUs", of+" of 2, by heartbeats", "GC cycles", cycles+", by heartbeats")
}

// digits3 formats a number as the page does.
func digits3(v float64) string {
	switch {
	case v == math.Trunc(v) || v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// inStates: how long the selected scope, the only one of its name, waited for the collector and for a processor.
func inStates(u *user, trace, name string) {
	u.t.Helper()
	states := statesOf(u.t, trace, name)
	u.sees(durationText(states["gc"])+" blocked by the garbage collector", durationText(states["runnable"])+" waiting for a processor")
}

// colleague opens a link in a browser that has not seen the page. Of a server it needs the token of the address that was
// printed, without which another browser is refused.
func (u *user) colleague(link string) *user {
	u.t.Helper()
	return newUser(u.t, u.home+link[strings.Index(link, "#"):])
}

// shareRow: the address of the page with what a goroutine did shows the same.
func shareRow(u *user, row string) {
	u.t.Helper()
	u.key("Slash")
	u.enter(row)
	u.sees("began in", "recorded waits")
	u.await(`location.hash.includes("row=")`)
	other := u.colleague(u.href())
	other.sees("began in", "recorded waits", row)
	var chosen, want string
	other.read(&chosen, `document.querySelector("#view-details .row-view").innerText`)
	u.read(&want, `document.querySelector("#view-details .row-view").innerText`)
	if chosen != want {
		u.t.Errorf("the address shows %q, want %q", chosen, want)
	}
}

// share: the link shows a colleague, whose page has other choices, the same.
func share(u *user, all truth, name string) {
	u.t.Helper()
	r := all.named("task", name).longest(u.t)
	u.read(nil, `navigator.clipboard.writeText = async (text) => { window.copied = text; }, window.copied = "", 0`)
	u.clickRow(name, "Scopes by name")
	u.key("KeyF")
	u.key("KeyY")
	u.await("window.copied !== ''")
	var link string
	u.read(&link, "window.copied")
	view := u.view()
	other := u.colleague(link)
	other.isSelected(r)
	other.sees(durationText(r.dur) + " " + exactText(r.dur))
	if v := other.view(); !like(v.From, max(0, view.From)) || // nothing is before the trace
		!like(v.To, view.To) {
		u.t.Errorf("the link %s shows %v, want %v", link, v, view)
	}
}

// exportSelection: a drag on the axis, and the CSV of it has what the trace has there.
func exportSelection(u *user, all truth) {
	u.t.Helper()
	into := u.t.TempDir()
	u.check(u.SaveDownloads(into))
	axis := u.box("#ruler canvas")
	u.drag(axis.X+0.3*axis.Width, axis.Y+5, axis.X+0.5*axis.Width, axis.Y+5)
	var r span
	u.read(&r, "({from: scopeview.range.from, to: scopeview.range.to})")
	u.click("Export", "")
	u.click("CSV", "Trace (Chrome JSON)")
	id := func(r *csvRecord) string {
		if r.kind == "counter" { // the page does not know whose it is
			return fmt.Sprint(r.kind, r.name, r.start, r.args)
		}
		return fmt.Sprint(r.kind, r.name, r.goid, r.start, r.dur, r.args)
	}
	lines := readCSV(u.t, []byte(waitForFile(u.t, into))).those(func(r *csvRecord) bool { return r.kind != "heartbeat" })
	want := all.those(func(x *csvRecord) bool { return x.kind != "heartbeat" && x.end() >= r.From && x.start <= r.To })
	if len(lines) != len(want) || len(want) == 0 {
		u.t.Errorf("the CSV of %v has %d lines, want %d", r, len(lines), len(want))
	}
	had := map[string]int{}
	for _, x := range lines {
		had[id(x)]++
	}
	for _, x := range want {
		if had[id(x)]--; had[id(x)] < 0 {
			u.t.Fatalf("the CSV of %v lacks %+v", r, x)
		}
	}
}
