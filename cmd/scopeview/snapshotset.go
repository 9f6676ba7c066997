package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

const (
	// setFile describes each set. Only directories that contain it are ever removed.
	setFile    = "set.json"
	setFileMax = 1 << 20
	// hiddenSet is the prefix of the directory in which a set is gathered.
	hiddenSet = ".scopeview-set-"
	setTime   = "20060102T150405.000Z"
)

// snapshotSet is a directory with the snapshots of several programs that were made at one moment.
type snapshotSet struct {
	out     string // the directory of sets
	work    string // where it is gathered; "": it was renamed, or discarded
	name    string
	trigger snapshotFacts
	doc     setDocument
}

// setDocument is the document in setFile.
type setDocument struct {
	Trigger string      `json:"trigger"` // the triggering snapshot, as it was found
	Why     string      `json:"why"`
	Begun   time.Time   `json:"begun"`
	Traces  []setMember `json:"traces"`
}

// setMember is a trace of a set, or the error of one that could not be copied.
type setMember struct {
	From  string `json:"from"`
	File  string `json:"file,omitempty"`
	Error string `json:"error,omitempty"`
}

// newSet begins a set with the snapshot at path.
func newSet(out, path string, facts snapshotFacts) (x *snapshotSet, err error) {
	now := time.Now().UTC()
	program := strings.TrimSuffix(copyName(filepath.Base(facts.program)), extension)
	x = &snapshotSet{out: out, name: now.Format(setTime) + "-" + program, trigger: facts}
	x.doc = setDocument{Trigger: path, Why: facts.why, Begun: now}
	if x.work, err = os.MkdirTemp(out, hiddenSet); err != nil {
		return nil, fmt.Errorf("making a set of snapshots: %w", err)
	}
	own := filepath.Join(x.work, filepath.Base(path))
	if err := linkOrCopy(path, own); err != nil {
		x.discard()
		return nil, fmt.Errorf("putting the triggering snapshot into the set: %w", err)
	}
	x.doc.Traces = []setMember{{From: path, File: filepath.Base(path)}}
	return x, nil
}

// linkOrCopy links the file to another name or, if that fails, copies it. The file must not change
// any more.
func linkOrCopy(from, to string) error {
	found, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if os.Link(from, to) == nil {
		// Another file may have taken the name; a link is not followed.
		if st, err := os.Lstat(to); err == nil && st.Mode().IsRegular() && os.SameFile(found, st) {
			return nil
		}
		os.Remove(to)
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	if st, err := src.Stat(); err != nil || !os.SameFile(found, st) {
		return fmt.Errorf("%s was replaced while it was copied", from)
	}
	dst, err := newfile.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// gather copies the neighbours into the set. It records the error of one that fails, and continues
// with the others.
func (x *snapshotSet) gather(ctx context.Context, s *streams, also []string, patience time.Duration) {
	one := copies{s: s, timeout: patience, dir: x.work, spool: x.work, take: takeSnapshot}
	members := make([]setMember, len(also))
	each(also, func(i int, arg string) {
		m := &members[i]
		m.From = arg
		if a, err := parseAddress(arg); err == nil && isAddress(arg) {
			m.From = a.String() // without a password
		}
		res, err := one.one(ctx, arg)
		switch {
		case err != nil:
			m.Error = err.Error()
			fmt.Fprintf(s.err, "scopeview: %s\n", show.Text(err.Error()))
		case x.isTrigger(res.Path):
			os.Remove(res.Path) // the program of the set is among its own neighbours
			m.File = x.doc.Traces[0].File
		default:
			m.File = filepath.Base(res.Path)
		}
	})
	x.doc.Traces = append(x.doc.Traces, members...)
}

// isTrigger reports whether a snapshot is of the same recording as the triggering one.
func (x *snapshotSet) isTrigger(path string) bool {
	t, err := trace.OpenFile(path)
	if err != nil {
		return false
	}
	defer t.Close()
	return t.Header().ID == x.trigger.id
}

// finish renames the set to its name, unless ctx is done.
func (x *snapshotSet) finish(ctx context.Context) (dir string, err error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	b, err := json.MarshalIndent(x.doc, "", "  ")
	if err == nil {
		err = newfile.Write(filepath.Join(x.work, setFile), append(b, '\n'))
	}
	dir = filepath.Join(x.out, x.name)
	if err == nil {
		err = os.Rename(x.work, dir)
	}
	if err != nil {
		return "", fmt.Errorf("writing the set of snapshots: %w", err)
	}
	x.work = ""
	return dir, nil
}

// discard removes the gathered files, unless they have become a set.
func (x *snapshotSet) discard() {
	if x.work != "" {
		os.RemoveAll(x.work)
	}
}

// thinSets removes the oldest sets in the directory, except the newest keep. It removes only files
// that a set lists as its own.
func thinSets(out string, keep int, say func(string, ...any)) {
	root, err := os.OpenRoot(out)
	if err != nil {
		say("removing old sets: %v", err)
		return
	}
	defer root.Close()
	entries, err := os.ReadDir(out)
	if err != nil {
		say("removing old sets: %v", err)
		return
	}
	var sets []string // the time begins the name
	for _, e := range entries {
		if at, _, ok := strings.Cut(e.Name(), "-"); e.IsDir() && ok {
			if _, err := time.Parse(setTime, at); err == nil && len(membersOf(root, e.Name())) > 0 {
				sets = append(sets, e.Name())
			}
		}
	}
	slices.Sort(sets)
	for _, name := range sets[:max(len(sets)-keep, 0)] {
		for _, file := range append(membersOf(root, name), setFile) {
			if err := root.Remove(filepath.Join(name, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
				say("removing an old set: %v", err)
			}
		}
		if err := root.Remove(name); err != nil {
			say("removing an old set: %v", err)
		}
	}
}

// membersOf lists the files in a set's document; none if the directory is not one of our sets.
func membersOf(root *os.Root, name string) (files []string) {
	path := filepath.Join(name, setFile)
	if st, err := root.Lstat(path); err != nil || !st.Mode().IsRegular() {
		return nil // opening a named pipe would block
	}
	f, err := root.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var doc setDocument
	if json.NewDecoder(io.LimitReader(f, setFileMax)).Decode(&doc) != nil {
		return nil
	}
	for _, m := range doc.Traces {
		if m.File != "" && filepath.Base(m.File) == m.File && m.File != "." && m.File != ".." && filepath.Ext(m.File) == extension {
			files = append(files, m.File)
		}
	}
	return files
}
