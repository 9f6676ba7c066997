//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tools uses everything at once on a program that records: it serves and reads its trace, sets
// its filter, and makes snapshots, by the tool, by the program itself, and by its trigger. The
// program must lose nothing by that.
type tools struct {
	s       *soak
	tool    string // the tool's binary
	trace   string
	dir     string // for snapshots
	trigger string // where the program's trigger writes to
	running sync.WaitGroup

	answers, filters, asked, copied atomic.Int64
}

// between is the pause of each before it repeats its action.
const between = time.Second

// buildTool builds the tool, and makes the directories.
func (s *soak) buildTool(ctx context.Context) (*tools, error) {
	u := &tools{s: s, tool: filepath.Join(s.dir, "scopeview"), dir: filepath.Join(s.dir, "snapshots"), trigger: filepath.Join(s.dir, "triggered")}
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/scopeview/scopeview").Output()
	if err != nil {
		return nil, fmt.Errorf("the tool's module can't be found: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", u.tool, "./cmd/scopeview")
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the tool: %w: %s", err, out)
	}
	return u, errors.Join(os.Mkdir(u.dir, 0o700), os.Mkdir(u.trigger, 0o700))
}

// begin starts all of them on a trace until ctx ends; wait waits for their end.
func (u *tools) begin(ctx context.Context, trace string) {
	u.trace = trace
	u.running.Go(func() { u.serve(ctx) })
	u.again(ctx, &u.filters, func(n int64) error {
		_, err := u.run("ctl", u.trace, "filter", []string{"soak*", ""}[n%2])
		return err
	})
	u.again(ctx, &u.asked, func(n int64) error {
		to := filepath.Join(u.dir, fmt.Sprintf("asked%d.scope", n))
		_, err := u.run("ctl", u.trace, "snapshot", to)
		return errors.Join(err, u.sound(to))
	})
	u.again(ctx, &u.copied, func(n int64) error {
		to := filepath.Join(u.dir, fmt.Sprintf("copied%d.scope", n))
		_, err := u.run("snapshot", u.trace, "-o", to)
		return errors.Join(err, u.sound(to))
	})
}

// again repeats an action until ctx ends, and counts its successes.
func (u *tools) again(ctx context.Context, count *atomic.Int64, do func(n int64) error) {
	u.running.Go(func() {
		for n := int64(0); ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(between):
			}
			if err := do(n); err == nil {
				count.Add(1)
			} else if ctx.Err() == nil { // else the program may have ended meanwhile
				u.s.fail("%v", err)
			}
		}
	})
}

// run runs the tool.
func (u *tools) run(args ...string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*patience)
	defer stop()
	out, err := exec.CommandContext(ctx, u.tool, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("scopeview %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// sound checks a snapshot, and removes it.
func (u *tools) sound(path string) error {
	defer os.Remove(path)
	_, err := u.run("verify", path)
	return err
}

// serve serves the trace, and requests the data of a page.
func (u *tools) serve(ctx context.Context) {
	cmd := exec.Command(u.tool, "serve", u.trace)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		u.s.fail("scopeview serve: %v", err)
		return
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if page, err := url.Parse(strings.TrimSpace(line)); err != nil || page.Host == "" {
		u.s.fail("scopeview serve says %q, which is no address", line)
	} else {
		jar, _ := cookiejar.New(nil)
		client := &http.Client{Jar: jar, Timeout: patience}
		for at := page; ctx.Err() == nil; time.Sleep(between / 2) {
			if err := answer(client, at.String()); err != nil && ctx.Err() == nil {
				u.s.fail("scopeview serve: %v", err)
			}
			paths := []string{"whole", "same", "tile?px=1000&from=0&to=9000000000000", "summary?from=0&to=9000000000000"}
			at = &url.URL{Scheme: page.Scheme, Host: page.Host, Path: "/t/0/api/"}
			at, _ = at.Parse(paths[u.answers.Add(1)%int64(len(paths))])
		}
	}
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		u.s.fail("scopeview serve ended: %v", err)
	}
}

// answer gets the contents of an address.
func answer(client *http.Client, address string) error {
	r, err := client.Get(address)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s: %.200s", address, r.Status, text)
	}
	return err
}

// end waits for all, and checks what the trigger has left.
func (u *tools) end(snapshots int64) {
	u.running.Wait()
	left, _ := filepath.Glob(filepath.Join(u.trigger, "*.scope"))
	for _, path := range left {
		if _, err := u.run("verify", path); err != nil {
			u.s.fail("the trigger's snapshot: %v", err)
		}
	}
	for what, n := range map[string]int64{
		"answers of serve": u.answers.Load(), "filters set": u.filters.Load(), "snapshots by ctl": u.asked.Load(),
		"snapshots by the tool": u.copied.Load(), "snapshots by the trigger": int64(len(left)),
	} {
		if n == 0 {
			u.s.fail("no %s", what)
		}
	}
	fmt.Printf("tools: %d answers of serve, %d filters set, %d sound snapshots by ctl and %d by the tool; %d written by the program\n",
		u.answers.Load(), u.filters.Load(), u.asked.Load(), u.copied.Load(), snapshots)
}
