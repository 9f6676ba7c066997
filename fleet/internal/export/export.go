// Package export writes the tables of a fleet from traces.
package export

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/fleet/internal/tables"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/trace"
)

// Options has the tables to export and the identity of the program.
type Options struct {
	Service, Host, Pod, Build string          // "": from the trace
	Tables                    []*tables.Table // nil: all
	Progress                  func(ns int64)
}

// Result is the result of exporting a trace.
type Result struct {
	Run     string
	Rows    int64 // of all tables
	Scopes  int64
	Already bool // it existed: nothing was written
	Notes   []string
	Damage  []string // unreadable parts of the trace
	Lost    []string // losses of the recording; see analysis.LossLine and OverwrittenLine
}

// export is the export of one trace.
type export struct {
	Options
	ctx     context.Context
	t       *trace.Trace
	out     store.Store
	words   *tables.Words
	files   map[fileKey]*file
	own     []string // the staged files that are not in the store yet
	part    string   // prefix and suffix of all keys: service, host and run around the date
	host    string
	run     string
	name    string // of the files
	base    int64  // wall clock, ns, of the trace's start
	whose   [2]int64
	cover   []span
	weights map[uint16]int64 // by name, of functions whose calls are not all recorded
	Result
}

type fileKey struct {
	table *tables.Table
	date  string
}

// file is a file being written.
type file struct {
	*tables.File
	f      *os.File
	staged string
}

// mostDates is the maximum number of UTC days with rows of one trace, whose times may be
// wrong.
const mostDates = 1000

// Trace exports the trace at a path.
func Trace(ctx context.Context, path string, out store.Store, o Options) (Result, error) {
	t, err := open.File(ctx, path)
	if err != nil {
		return Result{}, err
	}
	defer t.Close()
	x := &export{Options: o, ctx: ctx, t: t, out: out, words: wordsOf(t), files: map[fileKey]*file{}}
	defer x.drop()
	x.identify()
	x.whose = [2]int64{x.words.Of(x.Build), x.words.Of(x.Pod)}
	err = x.all()
	x.account()
	return x.Result, err
}

// all writes all tables.
func (x *export) all() error {
	if err := x.before(); err != nil || x.Already {
		return err
	}
	for _, step := range []func() error{x.scheduler, x.records, x.heartbeats, x.findings, x.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// account records the losses of the trace, as far as it was read.
func (x *export) account() {
	for _, p := range analysis.Damage(x.t.Problems()) {
		x.Damage = append(x.Damage, analysis.ProblemText(&p))
	}
	for _, line := range []string{analysis.LossLine(x.t), analysis.OverwrittenLine(x.t), analysis.CoolLine(x.t)} {
		if line != "" {
			x.Lost = append(x.Lost, line)
		}
	}
}

// identify determines the run and the program of the trace.
func (x *export) identify() {
	t, h := x.t, x.t.Header()
	x.base = t.Start().UnixNano()
	x.Service = cmp.Or(x.Service, filepath.Base(filepath.ToSlash(cmp.Or(t.Lookup("program"), "unknown"))))
	x.host = cmp.Or(x.Host, t.Lookup("host"), "unknown")
	x.Pod = cmp.Or(x.Pod, t.Lookup("host"))
	x.Build = cmp.Or(x.Build, t.Lookup("build_id"), t.Lookup("version"))
	// The start and the process identify a run, also for snapshots; the random id
	// distinguishes runs that share them.
	x.run = time.Unix(0, x.base).UTC().Format("20060102T150405") + "-" + strconv.Itoa(int(h.PID)) + "-" + hex.EncodeToString(h.ID[:4])
	x.Run = x.run
	x.name = fmt.Sprintf("%d-%d-%s.parquet", x.from(), x.until(), hex.EncodeToString(h.ID[4:8]))
}

// from returns the time from which on the trace has all scopes, in ns from the run's start.
func (x *export) from() int64 {
	from, _, _ := x.t.Excerpt()
	return max(from, x.t.Overwritten().Until)
}

// until returns the time up to which it has them.
func (x *export) until() int64 {
	if _, to, ok := x.t.Excerpt(); ok {
		return to
	}
	return x.t.End()
}

// key returns the key of the file of a table and a date.
func (x *export) key(t *tables.Table, date string) string {
	return store.Key(t.Name, store.Part("service", x.Service), "date="+date, store.Part("host", x.host), store.Part("run", x.run), x.name)
}

func (x *export) wants(t *tables.Table) bool { return x.Tables == nil || slices.Contains(x.Tables, t) }

const dateForm = "2006-01-02"

func date(ns int64) string { return time.Unix(0, ns).UTC().Format(dateForm) }

// day is the length of a UTC day in ns.
const day = 24 * int64(time.Hour)

// write writes the rows of a batch to the files of their dates.
func (x *export) write(b *tables.Batch) error {
	for i, n := 0, b.Len(); i < n; {
		at := b.Value(i, 0)
		from := at - (at%day+day)%day
		j := i + 1
		for j < n && b.Value(j, 0) >= from && b.Value(j, 0) < from+day {
			j++
		}
		f, err := x.file(b.Table, date(at))
		if err != nil {
			return err
		}
		if err := f.Write(b, i, j); err != nil {
			return err
		}
		x.Rows += int64(j - i)
		i = j
	}
	return nil
}

// file returns the file of a table and date. Files of other dates are flushed, so that
// memory does not grow with the number of days.
func (x *export) file(t *tables.Table, date string) (*file, error) {
	k := fileKey{t, date}
	if f := x.files[k]; f != nil {
		return f, nil
	}
	dates := 0
	for other, f := range x.files {
		if other.table != t {
			continue
		}
		if dates++; dates >= mostDates {
			return nil, fmt.Errorf("the trace has rows of more than %d days in table %s: its clock must have been wrong", mostDates, t.Name)
		}
		if err := f.Flush(); err != nil {
			return nil, err
		}
	}
	staged, err := x.out.Stage(x.key(t, date))
	if err != nil {
		return nil, err
	}
	x.own = append(x.own, staged)
	w, err := newfile.Existing(staged, os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("writing a file of the tables: %w", err)
	}
	f := &file{tables.NewFile(t, x.words, w), w, staged}
	x.files[k] = f
	return f, nil
}

// put closes the open files, and moves them to their keys.
func (x *export) put() error {
	keys := make([]fileKey, 0, len(x.files))
	for k := range x.files {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b fileKey) int {
		return cmp.Or(cmp.Compare(a.table.Name, b.table.Name), cmp.Compare(a.date, b.date))
	})
	for _, k := range keys {
		f := x.files[k]
		err := f.Close()
		if err == nil {
			err = f.f.Sync()
		}
		if err = errors.Join(err, f.f.Close()); err == nil {
			err = x.out.Put(x.ctx, f.staged, x.key(k.table, k.date))
		}
		delete(x.files, k)
		if err != nil {
			return fmt.Errorf("writing table %s: %w", k.table.Name, err)
		}
	}
	return nil
}

// drop removes staged files that were not put.
func (x *export) drop() {
	for _, f := range x.files {
		f.f.Close()
	}
	for _, p := range x.own {
		os.Remove(p) // most were renamed
	}
}

// finish puts the tables, and then the row that marks them as complete.
func (x *export) finish() error {
	if err := x.put(); err != nil {
		return err
	}
	t := x.t
	lost := int64(0)
	for _, n := range t.Lost() {
		lost += n
	}
	b := tables.NewBatch(tables.Runs)
	o := t.Overwritten()
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return tables.Null
		}
		return n
	}
	b.Add(x.base+x.from(), x.words.Of(clean(t.Lookup("program"))), x.base+x.until(), x.base, int64(t.Header().PID),
		number(t.Lookup("ppid")), x.words.Of(clean(t.Lookup("boot"))), x.words.Of(clean(t.Lookup("version"))), x.words.Of(clean(t.Lookup("go"))),
		x.Scopes, lost, o.Records, flag(t.Closed()), b.Text(clean(t.Lookup("snapshot_reason"))), x.whose[0], x.whose[1])
	if err := x.write(b); err != nil {
		return err
	}
	x.Rows-- // it is not a row of the trace
	return x.put()
}

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// Files returns the traces among arguments: files, and files in directories.
func Files(args []string) (list []string, err error) {
	for _, a := range args {
		st, err := os.Stat(a)
		if err != nil {
			return nil, fmt.Errorf("looking for traces: %w", err)
		}
		if !st.IsDir() {
			list = append(list, a)
			continue
		}
		n := len(list)
		err = filepath.WalkDir(a, func(p string, e fs.DirEntry, err error) error {
			if ext := filepath.Ext(p); err == nil && !e.IsDir() && (ext == ".scope" || ext == ".scopez") && !strings.HasPrefix(e.Name(), ".") {
				list = append(list, p)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("looking for traces: %w", err)
		}
		if len(list) == n {
			return nil, fmt.Errorf("%s: no *.scope file is in this directory", a)
		}
	}
	return list, nil
}
