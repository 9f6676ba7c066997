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

// How the directory of triggered snapshots is watched.
const (
	lookEvery   = 250 * time.Millisecond
	setEvery    = 10 * time.Second
	addressesOf = 64 // neighbours that one host name may mean
)

// neighbours are the traces that are copied when a program's trigger has written a snapshot.
type neighbours struct {
	dir      string        // that triggers write to
	also     []string      // TRACEs
	out      string        // the directory for sets
	keep     int           // sets
	patience time.Duration // for each neighbour

	old    map[string]bool // snapshots that were there before, or were dealt with
	last   time.Time       // when the last set was begun
	said   string          // the last error in words, which is not said again
	stderr func(text string, args ...any)
}

// run makes sets until ctx is done.
func (n *neighbours) run(ctx context.Context, s *streams) error {
	st, err := os.Stat(n.dir)
	switch {
	case n.out == "":
		return usagef("--triggered needs -o DIR, the directory for the sets")
	case n.keep < 1:
		return usagef("--keep %d: at least one set is kept", n.keep)
	case err == nil && !st.IsDir():
		return usagef("--triggered %s: it is no directory; give the one that scope.WithTrigger writes to", n.dir)
	case slices.Contains(n.also, standardInput):
		return usagef("--also -: standard input is no neighbour")
	}
	s = s.forMany()
	n.stderr = func(text string, args ...any) {
		fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(fmt.Sprintf(text, args...)))
	}
	n.look() // what is there is old, from now on: whoever sees the directory for sets can rely on it
	if err := os.MkdirAll(n.out, 0o700); err != nil {
		return fmt.Errorf("making the directory for the sets: %w", err)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, name := range n.look() {
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

// look returns the names of what came into the directory since it was looked at, and is called
// like a trigger's snapshot. What was there at the first look is old.
func (n *neighbours) look() (fresh []string) {
	entries, err := os.ReadDir(n.dir)
	if err != nil {
		// A program that starts later makes it.
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
	n.old = there // what is gone is forgotten
	return fresh
}

// handle makes a set of a snapshot, unless it is not written yet or there was one just now. An
// error is one that will come again with each set.
func (n *neighbours) handle(ctx context.Context, s *streams, name string) error {
	path := filepath.Join(n.dir, name)
	facts, done := finished(path)
	if !done {
		return nil // it is looked at again
	}
	n.old[name] = true
	if since := time.Since(n.last); !n.last.IsZero() && since < setEvery {
		n.stderr("%s: no set is made of it, %v after the last one", path, since.Round(time.Millisecond))
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

// snapshotFacts are what a trigger's snapshot tells of itself.
type snapshotFacts struct {
	program, why string
	id           [16]byte // of the recording
}

// finished looks into a snapshot. done is false of one that is being written, which is no trace
// until it is complete, and of what is no snapshot.
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

// each returns the neighbours as they are now: of a host name that has several addresses, as that of
// a headless service has, each address is one.
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
		return []string{arg} // by TLS a host is known by its name
	}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip4", a.Hostname())
	if err != nil || len(ips) < 2 {
		return []string{arg} // whoever asks there says what is wrong
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
