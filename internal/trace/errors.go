package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// corruptError is a defect that made a trace, or a part of it, unreadable.
type corruptError struct {
	Path   string // "" for Open
	Offset int64  // in the file
	Err    error  // wraps format.ErrCorrupt
}

func (e *corruptError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("at offset %d: %v; nothing can be read without it; use another copy of the trace if there is one", e.Offset, e.Err)
	}
	return fmt.Sprintf("%s: at offset %d: %v; nothing can be read without it; use another copy of the trace if there is one", e.Path, e.Offset, e.Err)
}

func (e *corruptError) Unwrap() error { return e.Err }

// headerError adds the path and a hint to an error of the file header.
func headerError(path string, err error) error {
	var hint string
	switch {
	case errors.Is(err, format.ErrCorrupt):
		return &corruptError{Path: path, Err: err}
	case errors.Is(err, format.ErrEmpty):
		hint = "its writer ended before it wrote the header; record again"
	case errors.Is(err, format.ErrNotTrace):
		hint = "traces begin with " + fmt.Sprintf("%q", format.Magic[:7]) + " and are named *.scope"
	case errors.Is(err, format.ErrNewer):
		hint = "install a newer one: go install github.com/scopeview/scopeview/cmd/scopeview@latest"
	default:
		return ioError(path, 0, err)
	}
	if path == "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return fmt.Errorf("%s: %w; %s", path, err, hint)
}

// ioError returns an error with the offset of a failed read.
func ioError(path string, off int64, err error) error {
	if path == "" {
		return fmt.Errorf("reading at offset %d: %w", off, err)
	}
	return fmt.Errorf("%s: reading at offset %d: %w", path, off, err)
}

// Problem is a defect that the reader tolerated: what was skipped, and the offset.
type Problem struct {
	Offset int64
	Text   string // a sentence
	Count  int64  // number of occurrences, if one place stands for several
}

// problems counts equal defects together: a broken trace must not give a list as long as itself.
// Offset is the first place of each.
type problems map[string]*Problem

const maxProblems = 1000

// add bounds the table at maxProblems texts: those with values from the trace can all be different.
func (p problems) add(text string, off, n int64) {
	if n <= 0 {
		return
	}
	q := p[text]
	if q == nil && len(p) >= maxProblems {
		text = textManyProblems
		q = p[text]
	}
	if q != nil {
		q.Count += n
		q.Offset = min(q.Offset, off)
		return
	}
	p[text] = &Problem{off, text, n}
}

// set is add for a count that is computed anew each time.
func (p problems) set(text string, n int64) {
	delete(p, text)
	p.add(text, 0, n)
}

// sum adds the counts of another part of the run.
func (p problems) sum(o problems) {
	for text, q := range o {
		p.add(text, q.Offset, q.Count)
	}
}

// atLeast merges another run's counts: the same defects were found again, so the larger count is
// right, not the sum.
func (p problems) atLeast(o problems) {
	for text, q := range o {
		if old := p[text]; old == nil && len(p) >= maxProblems {
			p.add(text, q.Offset, q.Count)
		} else if old == nil {
			c := *q
			p[text] = &c
		} else {
			old.Count = max(old.Count, q.Count)
			old.Offset = min(old.Offset, q.Offset)
		}
	}
}

func (p problems) sorted() []Problem {
	list := make([]Problem, 0, len(p))
	for _, q := range p {
		list = append(list, *q)
	}
	slices.SortFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// The texts of tolerated defects.
const (
	textUnborn       = "a chunk that was handed out is missing: it was never started, or had not reached the disk when the machine stopped"
	textPages        = "a page of a chunk is missing: it had not reached the disk when the machine stopped"
	textRestart      = "this machine was restarted since, or it is another machine: if the machine stopped, data that had not reached the disk is missing"
	textSegment      = "a segment that its writer did not delete is missing: if it had reached the disk, copy it next to the trace"
	textApart        = "the trace's segments are not read with it"
	textLacks        = ": its own trace: " // a process's, and what is missing in that
	textCool         = "chunks that were in memory are not in the file"
	textUncopied     = "chunks that were on the heap are not in the file"
	textTwin         = "a chunk is skipped: a later one has the same number"
	textHole         = "a record's place was taken, but the record was never begun"
	textOrphanExt    = "an extension has no record: its writer was stopped between the two"
	textBadStart     = "a record's first word is not a time"
	textEarly        = "a record begins before its chunk was handed out; it is shown from there"
	textBadStop      = "a scope's end is before its begin or not a time; its duration is shown as 0"
	textNoExt        = "a record's extension is missing or runs beyond its chunk; its arguments are not shown"
	textBadExt       = "an extension can't be decoded to its end; the arguments behind that are not shown"
	textOrphanEnd    = "an end has no open begin: the begin is missing, or was ended twice"
	textLostBegin    = "a scope's begin was overwritten, and its end does not describe it"
	textBadEnd       = "an end does not fit the begin that it names; the scope is shown as open"
	textBreak        = "a scope spans a step of the clock: its duration is unreliable"
	textShort        = "a chunk could not be read to its end: the file shrank while it was read"
	textLost         = "a chunk is missing: the packed file is cut off or damaged where it was"
	textManyProblems = "further defects, each with a text of its own"
	textManyRows     = "too many named goroutines: those idle for longest may lose their names"
)

// Damage reports whether the defect means that the trace was cut or changed after it was written.
// It is false for defects that sound writers leave too: one that is running, that was killed
// between two stores, whose machine stopped, whose clock stepped, or that is newer than this
// reader.
func (p *Problem) Damage() bool {
	switch p.Text {
	case textHole, textOrphanExt, textOrphanEnd, textLostBegin, textBreak, textManyRows, textUnborn, textPages, textRestart, textCool, textUncopied:
		return false
	}
	for _, what := range unknownHere {
		if strings.Contains(p.Text, what) {
			return false
		}
	}
	return true
}

// unknownHere lists parts of sentences that are composed elsewhere; TestDamage finds them in
// traces.
var unknownHere = []string{"unknown kind", "unknown type", textLacks}
