package scopeprom

import (
	"encoding/hex"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// following reads the program's own traces as they grow, one after the other.
type following struct {
	filter    glob.Filter
	texts     requests.Bounded
	durations *prometheus.HistogramVec
	failed    int64 // how often a trace could not be read

	path   string // of the current or last trace
	id     [16]byte
	file   *hot.File
	trace  *trace.Follower // nil: there is none to follow
	byName map[nameKey]target
	broken bool  // the trace could not be read to its end
	missed int64 // chunks missed in earlier traces
}

// nameKey is a name's id in the trace, with a kind.
type nameKey struct {
	id   uint16
	kind format.Kind
}

// target receives the durations of a name; its observer is nil if the name is not selected.
type target struct {
	text     string
	observer prometheus.Observer
}

// kinds names the kinds of scopes as exports do.
var kinds = map[format.Kind]string{
	format.KindTask: "task", format.KindTaskf: "task", format.KindProcess: "process", format.KindWait: "wait", format.KindHold: "hold",
}

// read counts the scopes that have ended since the last call. It returns false if it did not
// reach the trace's end before the deadline.
func (f *following) read(s *scope.Statistics, deadline time.Time) bool {
	if f.trace == nil && s.Path != "" && (s.Running || s.Path != f.path) {
		f.open(s.Path)
	}
	if f.trace == nil {
		return true
	}
	n, all := 0, true
	done, err := f.trace.Poll(func(e *trace.Event) bool {
		f.take(e)
		n++
		all = n%256 != 0 || time.Now().Before(deadline)
		return all
	})
	if err != nil {
		f.failed++
		f.broken = true
	}
	if err != nil || done || all && !s.Running {
		f.close()
	}
	return all
}

// open begins to follow a trace, unless it was already followed to its end. A trace that
// could not be read is followed from now on, because the position reached is unknown.
func (f *following) open(path string) {
	file, err := hot.Open(path)
	if err != nil {
		f.failed++
		return
	}
	t, err := trace.NewFollower(file, file.Size, trace.FollowOptions{FromStart: true})
	var id [16]byte
	if err == nil {
		id = t.Trace().Header().ID
	}
	again := err == nil && f.path == path && f.id == id
	if again && f.broken {
		t, err = trace.NewFollower(file, file.Size, trace.FollowOptions{})
	}
	if err != nil {
		f.failed++
	}
	if err != nil || again && !f.broken {
		file.Close()
		return
	}
	f.path, f.id, f.broken = path, id, false
	f.file, f.trace, f.byName = file, t, map[nameKey]target{}
}

func (f *following) close() {
	f.missed += f.trace.Missed()
	f.file.Close()
	f.file, f.trace, f.byName = nil, nil, nil
}

// unread returns how many chunks were overwritten before they were read.
func (f *following) unread() int64 {
	if f.trace == nil {
		return f.missed
	}
	return f.missed + f.trace.Missed()
}

// take counts a scope if it has ended.
func (f *following) take(e *trace.Event) {
	kind, ok := kinds[e.Kind]
	if !ok || e.Open {
		return
	}
	key := nameKey{e.Name, e.Kind}
	text := f.trace.Trace().Name(e.Name)
	by, ok := f.byName[key]
	if !ok || by.text != text { // an id may get its name after the first event that has it
		by = target{text: text}
		if f.filter.Match(text) {
			by.observer = f.durations.WithLabelValues(f.texts.Of(args.Valid(text)), kind)
		}
		f.byName[key] = by
	}
	if by.observer == nil {
		return
	}
	seconds := float64(e.Dur) / 1e9
	if l, ok := e.Link(); ok {
		if x, ok := by.observer.(prometheus.ExemplarObserver); ok {
			x.ObserveWithExemplar(seconds, prometheus.Labels{"trace_id": hex.EncodeToString(l.Trace[:])})
			return
		}
	}
	by.observer.Observe(seconds)
}
