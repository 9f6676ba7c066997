package uitest

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	text "github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/uitest/traces"
)

// Each task is done with at most three actions on the demo, on a server with 10,000 goroutines and, where it makes sense,
// on what go test -trace writes. What the page has to show is computed from scopeview export csv, or known of the program.

func TestTasksOfDemo(t *testing.T) {
	path := traceOf(t, demo)
	all := truthOf(t, path)
	inBoth(t, demo, "chromium", func(t *testing.T, u *user) {
		u.part(t, "slowest", func(u *user) { slowest(u, all, "count", "stats.mu") })
		u.part(t, "holder", func(u *user) { holder(u, all, "stats.mu") })
		u.part(t, "goroutine", func(u *user) {
			u.click("worker 3", "")
			goroutineOverTime(u, all.those(func(r *csvRecord) bool { return r.track == "worker 3" }))
		})
		u.part(t, "above 10 ms", func(u *user) { above(u, all, "dur>10ms", "", 10e6) })
		u.part(t, "above 1 ms of a name", func(u *user) { above(u, all, "gzip>1ms", "gzip", 1e6) })
		u.part(t, "by id", func(u *user) {
			parse := all.named("task", "parse").longest(u.t)
			var args struct{ Bytes int }
			check(u.t, json.Unmarshal([]byte(parse.args), &args))
			byID(u, all, "bytes", args.Bytes)
		})
		u.part(t, "between two points", func(u *user) {
			between(u, all, all.named("task", "parse").longest(u.t), all.named("task", "count").longest(u.t))
		})
		u.part(t, "pressure", func(u *user) {
			u.clickRow("parse", "Scopes by name")
			pressure(u, all, all.named("task", "parse").longest(u.t))
		})
		u.part(t, "share", func(u *user) { share(u, all, "count") })
		u.part(t, "export", func(u *user) { exportSelection(u, all) })
		u.part(t, "waker", func(u *user) {
			u.clickRow("stats.mu", "Locks")
			wait := all.named("wait", "stats.mu").longest(u.t)
			before := all.named("hold", "stats.mu").those(func(r *csvRecord) bool { return r.end() <= wait.end() && r.goid != wait.goid })
			last := before[0]
			for _, r := range before {
				if r.end() > last.end() {
					last = r
				}
			}
			u.scroll()
			u.sees(fmt.Sprintf("got the lock from %s, hold of stats.mu at %.6f s", last.track, last.end()/1e9))
		})
	})
}

func TestTasksOfServer(t *testing.T) {
	path := traceOf(t, server)
	all := truthOf(t, path)
	inBoth(t, server, "firefox", func(t *testing.T, u *user) {
		blocked := all.named("task", traces.Serve).longest(t)
		if !strings.Contains(blocked.args, strconv.Itoa(traces.Blocked)) {
			t.Fatalf("the slowest request is %+v, want %d", blocked, traces.Blocked)
		}
		row := fmt.Sprintf("http.(*conn).serve %d", blocked.goid)
		u.part(t, "slowest", func(u *user) {
			slowest(u, all, traces.Serve, traces.CacheLock)
			u.sees(fmt.Sprintf("id=%d", traces.Blocked))
			u.click("longest wait inside", "")
			u.sees(traces.Refresher+", in "+traces.Refresh, "sleeping")
		})
		u.part(t, "holder", func(u *user) { holder(u, all, traces.CacheLock) })
		u.part(t, "goroutine", func(u *user) {
			u.key("Slash")
			u.enter(row)
			goroutineOverTime(u, all.those(func(r *csvRecord) bool { return r.goid == blocked.goid }))
			u.sees("began in", "http.(*conn).serve", "waiting for a lock", durationText(all.named("wait", traces.CacheLock).longest(u.t).dur))
		})
		u.part(t, "above 10 ms", func(u *user) { above(u, all, "dur>10ms", "", 10e6) })
		u.part(t, "by id", func(u *user) {
			byID(u, all, "id", traces.Hungry)
		})
		u.part(t, "by any text", func(u *user) {
			u.key("Slash")
			u.enter(strconv.Itoa(traces.Blocked))
			u.sees(durationText(blocked.dur) + " " + exactText(blocked.dur))
		})
		u.part(t, "between two points", func(u *user) {
			refresh := all.named("task", traces.Refresh).longest(u.t)
			between(u, all, refresh, refresh)
		})
		u.part(t, "pressure", func(u *user) {
			u.clickRow(traces.Compute, "Scopes by name")
			u.isSelected(all.named("task", traces.Compute).longest(u.t))
			inStates(u, path, traces.Compute)
		})
		u.part(t, "share", func(u *user) { share(u, all, traces.Serve) })
		u.part(t, "share a row", func(u *user) { shareRow(u, row) })
		u.part(t, "export", func(u *user) { exportSelection(u, all) })
		u.part(t, "waker", func(u *user) {
			u.clickRow(traces.CacheLock, "Locks")
			u.sees("its goroutine was woken by "+traces.Refresher, "got the lock from "+traces.Refresher)
		})
	})
}

func TestTasksOfGoTrace(t *testing.T) {
	path := traceOf(t, plain)
	all := truthOf(t, path)
	inBoth(t, plain, "chromium", func(t *testing.T, u *user) {
		call := all.named("task", "call").longest(t)
		u.part(t, "slowest", func(u *user) {
			slowest(u, all, "call", "")
			u.sees("waiting for a lock", "woken by plain.keep")
		})
		u.part(t, "holder", func(u *user) {
			u.clickRow("call", "Scopes by name")
			u.click("longest wait inside", "")
			u.sees("plain.keep", "sleeping")
		})
		u.part(t, "goroutine", func(u *user) {
			u.key("Slash")
			u.enter("plain.want")
			goroutineOverTime(u, all.those(func(r *csvRecord) bool { return r.goid == call.goid }))
		})
		u.part(t, "above 10 ms", func(u *user) { above(u, all, "dur>10ms", "", 10e6) })
		u.part(t, "by id", func(u *user) {
			u.key("Slash")
			u.enter(fmt.Sprint(call.goid))
			u.sees("began in", "plain.want")
		})
		u.part(t, "between two points", func(u *user) { between(u, all, call, call) })
		u.part(t, "pressure", func(u *user) {
			u.clickRow("crunch", "Scopes by name")
			inStates(u, path, "crunch")
		})
		u.part(t, "share", func(u *user) { share(u, all, "call") })
		u.part(t, "export", func(u *user) { exportSelection(u, all) })
		u.part(t, "waker", func(u *user) {
			u.clickRow("call", "Scopes by name")
			u.sees("its goroutine was woken by plain.keep")
		})
	})
}

// TestTasksOfBuilds: the 99th percentiles of a scope in two builds.
func TestTasksOfBuilds(t *testing.T) {
	for name, c := range map[string]struct {
		before, after func() (string, error)
		fileIn, scope string
	}{
		"demo": {demo, laterDemo, "firefox", "count"}, "server": {server, laterServer, "chromium", traces.Serve}, "Go trace": {plain, laterPlain, "firefox", "call"},
	} {
		t.Run(name, func(t *testing.T) {
			after := traceOf(t, c.after)
			a, b := truthOf(t, traceOf(t, c.before)).named("task", c.scope).quantile(0.99), truthOf(t, after).named("task", c.scope).quantile(0.99)
			inBoth(t, c.before, c.fileIn, func(t *testing.T, u *user) {
				u.key("KeyJ")
				u.sees("Overview", "About") // B's rows leave the tabs free
				u.clickRow(c.scope, "Scopes by name")
				u.sees(fmt.Sprintf("p99 %s → %s (%s)", durationText(a), durationText(b), changeText(a, b)))
			}, "--with", after)
		})
	}
}

// changeText formats a change as the page does.
func changeText(a, b float64) string {
	switch by := b / a; {
	case by >= 3:
		return fmt.Sprintf("%.1f×", by)
	case by < 1:
		return "−" + text.Percent(1-by)
	case by > 1:
		return "+" + text.Percent(by-1)
	}
	return "0%"
}

// TestTasksOfProcesses: by its id one finds a request over several processes.
func TestTasksOfProcesses(t *testing.T) {
	inBoth(t, sync.OnceValues(func() (string, error) {
		path := filepath.Join(dir, "processes.scope")
		return path, traces.Requests(path)
	}), "chromium", func(t *testing.T, u *user) {
		u.key("Slash")
		u.enter(traces.RequestID)
		u.click("request", "")
		u.sees("GET /buy", "query", "db 12", "missing: 0000000000000099")
		rows := u.table("#view-request").Rows
		if got, want := strings.Join(rows[2], "|"), "level 3: query|db 12|goroutine 1|+20.0 ms|10.0 ms|20.0 ms|20.0 ms"; len(rows) != traces.RequestParts+1 || got != want {
			t.Errorf("the request has %d lines, the third is %q, want %q", len(rows), got, want)
		}
	})
}
