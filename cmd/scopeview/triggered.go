package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// Parameters of watching the directory of triggered snapshots.
const (
	lookEvery   = 250 * time.Millisecond
	setEvery    = 10 * time.Second
	addressesOf = 64 // maximum number of neighbours of one host name
)

// neighbours are the traces copied when a program's trigger has written a snapshot.
type neighbours struct {
	dir      string        // that triggers write to
	also     []string      // TRACEs
	out      string        // the directory for sets
	keep     int           // sets
	patience time.Duration // for each neighbour

	old    map[string]bool // snapshots that existed before, or were handled
	last   time.Time       // when the last set was begun
	said   string          // the last error, which is not repeated
	stderr func(text string, args ...any)
}

// run makes sets until ctx is done.
func (n *neighbours) run(ctx context.Context, s *streams) error {
	st, err := os.Stat(n.dir)
	switch {
	case n.out == "":
		return usagef("--triggered needs -o DIR, the directory for the sets")
	case n.keep < 1:
		return usagef("--keep %d: must be at least 1", n.keep)
	case err == nil && !st.IsDir():
		return usagef("--triggered %s: not a directory; give the one of scope.WithTrigger", n.dir)
	case slices.Contains(n.also, standardInput):
		return usagef("--also -: standard input can't be a neighbour")
	}
	s = s.forMany()
	n.stderr = func(text string, args ...any) {
		fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(fmt.Sprintf(text, args...)))
	}
	n.newSnapshots() // existing snapshots are ignored from now on, which users can rely on once the directory for sets exists
	if err := os.MkdirAll(n.out, 0o700); err != nil {
		return fmt.Errorf("making the directory for the sets: %w", err)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, name := range n.newSnapshots() {
			if err := n.handle(ctx, s, name); err != nil && ctx.Err() == nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// newSnapshots returns the names of new files in the directory that are named like a trigger's snapshot.
// Files at the first call count as old.
func (n *neighbours) newSnapshots() (fresh []string) {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		// The directory is created by a program that starts later.
		if text := err.Error(); text != n.said {
			n.said = text
			n.stderr("looking for snapshots: %v; waiting until that can be done", err)
		}
		if n.old == nil && errors.Is(err, fs.ErrNotExist) {
			n.old = map[string]bool{}
		}
		return nil
	}
	n.said = ""
	first := n.old == nil
	there := make(map[string]bool, len(n.old))
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.Contains(name, "-slow-") || filepath.Ext(name) != extension || !e.Type().IsRegular():
		case first || n.old[name]:
			there[name] = true
		default:
			fresh = append(fresh, name)
		}
	}
	n.old = there // removed files are forgotten
	return fresh
}

// handle makes a set of a snapshot, unless it is not complete or the last set was made too
// recently. It returns only errors that every set would have.
func (n *neighbours) handle(ctx context.Context, s *streams, name string) error {
	path := filepath.Join(n.dir, name)
	facts, done := finished(path)
	if !done {
		return nil // it will be checked again
	}
	n.old[name] = true
	if since := time.Since(n.last); !n.last.IsZero() && since < setEvery {
		n.stderr("%s: no set for it, only %v after the last one", path, since.Round(time.Millisecond))
		return nil
	}
	n.last = time.Now()
	set, err := newSet(n.out, path, facts)
	if err != nil {
		return err
	}
	defer set.discard()
	set.gather(ctx, s, n.each(ctx), n.patience)
	dir, err := set.finish(ctx)
	if err != nil {
		return err
	}
	thinSets(n.out, n.keep, n.stderr)
	if _, err := fmt.Fprintln(s.out, dir); err != nil {
		return fmt.Errorf("writing to standard output: %w", err)
	}
	return nil
}

// snapshotFacts are the facts in a trigger's snapshot.
type snapshotFacts struct {
	program, why string
	id           [16]byte // of the recording
}

// finished reads a snapshot's facts. done is false for one that is being written, which is not a
// trace until it is complete, and for other files.
func finished(path string) (f snapshotFacts, done bool) {
	if st, err := os.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return f, false
	}
	t, err := trace.OpenFile(path)
	if err != nil {
		return f, false
	}
	defer t.Close()
	f = snapshotFacts{program: t.Lookup("program"), why: t.Lookup("snapshot_reason"), id: t.Header().ID}
	return f, t.Closed() && t.Lookup("snapshot") != ""
}

// each returns the current neighbours: a host name with several addresses, such as that of a
// headless service, stands for one neighbour per address.
func (n *neighbours) each(ctx context.Context) (all []string) {
	for _, arg := range n.also {
		all = append(all, n.hosts(ctx, arg)...)
	}
	return all
}

func (n *neighbours) hosts(ctx context.Context, arg string) []string {
	if !isAddress(arg) {
		return []string{arg}
	}
	a, err := parseAddress(arg)
	if err != nil || a.Scheme != "http" || net.ParseIP(a.Hostname()) != nil {
		return []string{arg} // TLS identifies a host by its name
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip4", a.Hostname())
	if err != nil || len(ips) < 2 {
		return []string{arg} // the request will report the error
	}
	var all []string
	for _, ip := range ips[:min(len(ips), addressesOf)] {
		u, host := *a.URL, ip.String()
		if u.Host = host; a.Port() != "" {
			u.Host = net.JoinHostPort(host, a.Port())
		}
		all = append(all, u.String())
	}
	return all
}
