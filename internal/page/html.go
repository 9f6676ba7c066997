package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// DefaultMax is how many scopes a file holds at most, if nobody says otherwise:
// what a browser draws without effort.
const DefaultMax = 5_000_000

// sizeLimit is how large a file is at most, in bytes, if nobody asked for more.
const sizeLimit = 100_000_000

// level is how hard the data is packed, see timeline.Container. Lower ones take two thirds of
// the time for a tenth more.
const level = 7

// Options say what is written and how.
type Options struct {
	analysis.Selection
	// Max is how many scopes there are at most, and how many states of goroutines; if
	// the trace has more, short ones are merged with their neighbours. 0: no limit.
	Max int64
	// Large allows a file of more than 100 MB.
	Large bool
	// Commentary has the compiler tell what it did with the calls that are hot in the profile
	// that the program is built with. That builds the program twice.
	Commentary bool
	Path       string         // of the trace's file; advice that lies beside it is taken in
	Weights    advice.Weights // of advice; nil: those that are built in
	Writer     string         // see timeline.MetaOptions
	Tool       string         // its version
	// limit is the size of a file that is not Large; 0: sizeLimit.
	limit int64
}

// Shown is a trace, and what of it a page has.
type Shown struct {
	Trace *trace.Trace
	Options
}

// Write writes t as a page with everything in it. It stops with ctx's error once
// ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o Options) error {
	return WriteAll(ctx, w, Shown{t, o})
}

// WriteAll is Write of a trace and, if there is one more, of that which it is compared with.
// The two share the size that a page may have.
func WriteAll(ctx context.Context, w io.Writer, shown ...Shown) error {
	var data []*payload
	for _, s := range shown {
		s.limit = cmp.Or(s.limit, sizeLimit) / int64(len(shown))
		c, err := pack(ctx, s.Trace, s.Options)
		if err != nil {
			return err
		}
		data = append(data, c)
	}
	if err := write(untilDone{ctx, w}, Config{Home: HomeFile}, data...); err != nil {
		return fmt.Errorf("writing HTML: %w", err)
	}
	return nil
}

// pack makes the container of t.
func pack(ctx context.Context, t *trace.Trace, o Options) (*payload, error) {
	selected := o.Selection
	selected.Progress = nil // that is told of while the scopes are read
	says := AdviceOf(o.Path, o.Weights)
	var report any = notAsked()
	if !isLong(t, &selected) {
		report = DoctorSays(ctx, t, selected, says) // first: of a trace of many goroutines it takes as much memory as the page
	}
	load := timeline.LoadOptions{
		From: o.From, To: o.To, Progress: o.Progress, Still: o.Writer == timeline.WriterGone, Whole: cmp.Or(o.Max, math.MaxInt64),
	}
	var choose func() func(*trace.Event) bool
	if !o.Names.All() || !o.Tracks.All() {
		choose = func() func(*trace.Event) bool { return o.Choice(t).Keep }
		load.Keep = choose()
	}
	var states *timeline.States
	var samples *timeline.Samples
	if len(t.GoTraces()) > 0 || len(t.Counters()) > 0 { // nothing else has samples
		var err error
		if states, samples, err = loadWithStates(ctx, t, o.Selection, o.Commentary); err != nil {
			return nil, err
		}
	}
	var summing sync.WaitGroup
	defer summing.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	summary := sync.OnceValues(func() (*timeline.Summary, error) {
		return timeline.Summarize(ctx, t, o.From, o.To, true, choose, nil)
	})
	if o.Max > 0 && t.Size()/format.RecordSize > o.Max {
		// The page will hardly have all scopes, and then has their sums. Load takes them in one
		// by one, on one CPU: the others have time for that.
		summing.Go(func() { summary() })
	}
	x, err := timeline.Load(ctx, t, load)
	if err != nil {
		return nil, err
	}
	p := &packer{ctx: ctx, t: t, x: x, states: states, samples: samples, o: &o, summary: summary, doctor: report, advice: says}
	return p.fit()
}

// counter is a writer that fails when it was given too much.
type counter struct{ left int64 }

func (c *counter) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, errTooLarge
	}
	return len(p), nil
}

var errTooLarge = errors.New("the page is too large")

// untilDone is a writer that fails once its context is done.
type untilDone struct {
	ctx context.Context
	io.Writer
}

func (u untilDone) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}
