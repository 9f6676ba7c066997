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
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// DefaultMax is the default maximum number of scopes in a file: a browser draws as many
// without effort.
const DefaultMax = 5_000_000

// sizeLimit is the default maximum size of a file, in bytes.
const sizeLimit = 100_000_000

// level is the compression level, see timeline.Container. Lower ones take two thirds of the
// time, for a tenth more bytes.
const level = 7

// Options select the content of a page.
type Options struct {
	analysis.Selection
	// Max is the maximum number of scopes, and of goroutines' states; if the trace has more,
	// short ones are merged with their neighbours. 0: no limit.
	Max int64
	// Large allows a file of more than 100 MB.
	Large bool
	// Commentary adds the compiler's output on calls that are hot in the profile that the
	// program is built with. It builds the program twice.
	Commentary bool
	Path       string            // of the trace's file; advice beside it is included
	Weights    advice.Weights    // for advice; nil: the built-in ones
	Bandwidth  *doctor.Bandwidth // of the machine's memory, for the doctor; nil: not measured
	Writer     string            // see timeline.MetaOptions
	Tool       string            // version of the tool
	// limit is the size of a file that is not Large; 0: sizeLimit.
	limit int64
}

// Shown is a trace, with the options for its part of the page.
type Shown struct {
	Trace *trace.Trace
	Options
}

// Write writes t as a page with all its data. It stops with ctx's error once ctx is done.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o Options) error {
	return WriteAll(ctx, w, Shown{t, o})
}

// WriteAll is like Write for a trace and optionally a second one to compare it with. The two
// share the maximum size of a page.
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
	selected.Progress = nil // progress is reported while the scopes are read
	says := AdviceOf(o.Path, o.Weights)
	var report any = notAsked()
	if !isLong(t, &selected) {
		report = DoctorSays(ctx, t, selected, o.Bandwidth, says) // first, as for a trace of many goroutines it takes as much memory as the page
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
	if len(t.GoTraces()) > 0 || len(t.Counters()) > 0 { // otherwise there are no samples
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
		// The page will hardly have all scopes, and then needs their sums. Load adds them one
		// by one, on one CPU: the others can compute the sums meanwhile.
		summing.Go(func() { summary() })
	}
	x, err := timeline.Load(ctx, t, load)
	if err != nil {
		return nil, err
	}
	p := &packer{ctx: ctx, t: t, x: x, states: states, samples: samples, o: &o, summary: summary, doctor: report, advice: says}
	return p.fit()
}

// counter is a writer that fails beyond a number of bytes.
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
