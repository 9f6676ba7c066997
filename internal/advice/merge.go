package advice

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

// Data is the merged data of several runs of one program.
type Data struct {
	Program string
	Go      string
	Builds  []string
	Runs    int
	CPUs    int
	NS      float64 // total time of counting in all runs
	CPU     float64 // total CPU time of these; 0: unknown
	Looked  float64 // share of it in which operations were reported
	Rows    []*Row
	Params  map[string]string
	Lost    map[string]int64
	Notes   []string // unusable parts of the files, damage included
	Damage  []string // damaged parts of the files
}

// ErrPrograms reports raw files of two programs.
var ErrPrograms = errors.New("raw files of two programs")

// Load reads raw files, which may have several runs each, and merges them.
func Load(paths ...string) (*Data, error) {
	var all source
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			return nil, err
		}
		err = all.read(p, f)
		f.Close()
		if err != nil {
			return nil, err
		}
	}
	return all.merge()
}

// source is the content of raw files before merging.
type source struct {
	runs   []row.Run
	damage []string
}

// read adds the content of a raw file.
func (s *source) read(name string, r io.Reader) error {
	runs, damage, err := row.Read(r)
	for _, n := range damage {
		s.damage = append(s.damage, name+": "+n)
	}
	switch {
	case err != nil && len(runs) == 0:
		return fmt.Errorf("%s: %w", name, err)
	case err != nil: // the runs before the error are usable
		s.damage = append(s.damage, name+": "+err.Error())
	case len(runs) == 0:
		return fmt.Errorf("%s is empty: a program writes a raw file if it was built with --advise and SCOPEVIEW_ADVISE names the file", name)
	}
	s.runs = append(s.runs, runs...)
	return nil
}

func (s *source) merge() (*Data, error) {
	d, err := merge(s.runs)
	if err == nil {
		d.Damage = append(s.damage, d.Damage...)
		d.Notes = append(d.Notes, d.Damage...)
	}
	return d, err
}

// merge merges runs. It rejects runs of two programs, whose call stacks are not comparable.
func merge(runs []row.Run) (*Data, error) {
	d := &Data{Params: map[string]string{}, Lost: map[string]int64{}}
	rows := map[string]*Row{}
	looked, noted, memory := 0.0, 0.0, 0.0
	for i, run := range runs {
		if i == 0 {
			d.Program, d.Go = run.Program, run.Go
		}
		if run.Program != d.Program {
			return nil, fmt.Errorf("%w, %s and %s, can't be merged; give those of one", ErrPrograms, d.Program, run.Program)
		}
		d.Runs++
		d.CPUs = max(d.CPUs, run.CPUs)
		d.NS += float64(run.NS)
		d.CPU += float64(run.CPU)
		looked += float64(run.Looked)
		noted += float64(run.Noted)
		memory += float64(run.Memory)
		if b := strings.TrimSpace(run.Build); b != "" && !slices.Contains(d.Builds, b) {
			d.Builds = append(d.Builds, b)
		}
		for k, v := range run.Params {
			d.Params[k] = v
		}
		for k, v := range run.Lost {
			d.Lost[k] = row.Sum(d.Lost[k], v)
		}
		for _, hook := range slices.Sorted(maps.Keys(run.Missing)) {
			note := fmt.Sprintf("the hook %s is missing, and the advice based on it: %s", hook, run.Missing[hook])
			if !slices.Contains(d.Notes, note) {
				d.Notes = append(d.Notes, note)
			}
		}
		for _, r := range run.Rows {
			key := r.Kind.String() + "\t" + r.Type + "\t" + strings.Join(r.Stack, "\t")
			m := rows[key]
			if m == nil {
				m = &Row{Row: row.Row{Kind: r.Kind, Type: r.Type, Stack: r.Stack}}
				rows[key] = m
				d.Rows = append(d.Rows, m)
			}
			m.Runs++
			m.Stats.Add(&r.Stats)
		}
	}
	if len(d.Builds) > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("the runs are of %d builds: lines may differ", len(d.Builds)))
	}
	if d.NS > 0 {
		d.Looked = looked / d.NS
	}
	if memory > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s loads and stores were sampled, %s of about all in the packages built for it", show.Count(noted), show.Percent(noted/memory)))
	}
	root := d.root()
	var all row.Stats // the total, at which sums of rows saturate too
	for _, r := range d.Rows {
		all.Add(&r.Stats)
		r.NS, r.CPU, r.root = d.NS, d.CPU, root
	}
	if n := all.Full(); n > 0 {
		d.Damage = append(d.Damage, fmt.Sprintf("%s of the rows have sums that saturate at %d: the raw files are damaged, and advice based on those rows is wrong", show.Plural(n, "value"), math.MaxInt64))
	}
	return d, nil
}

// root returns the directory of the standard library's files, according to the runtime's
// frames.
func (d *Data) root() string {
	for _, r := range d.Rows {
		for _, f := range r.Stack {
			if at, ok := strings.CutPrefix(f, "runtime.goexit "); ok {
				root, _, found := strings.Cut(at, "/src/runtime/")
				if found {
					return root + "/src/"
				}
			}
		}
	}
	return ""
}
