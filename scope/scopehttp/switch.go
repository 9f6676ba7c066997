package scopehttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/scope"
)

// answeredWithin limits the wait for the recorder to execute a command. It checks
// for one per round of its flusher.
const answeredWithin = 20 * time.Second

func (h *handler) on(r *http.Request, _ fields) (string, error) {
	return h.command(r.Context(), format.CommandOn)
}

func (h *handler) off(r *http.Request, _ fields) (string, error) {
	return h.command(r.Context(), format.CommandOff)
}

// command sends a command through the trace's control words, as tools outside
// the process do: so there is one switch, whoever uses it, and the recording
// keeps its ring, its filter and its triggers.
func (h *handler) command(ctx context.Context, c format.Command) (string, error) {
	h.asking.Lock()
	defer h.asking.Unlock()
	s := scope.Stats()
	if !s.Running {
		return "", scope.ErrStopped
	}
	f, _, err := openTrace(s.Path, os.O_RDWR)
	if err != nil {
		return "", err
	}
	defer f.Close()
	ctx, cancel := context.WithTimeout(ctx, answeredWithin)
	defer cancel()
	// A waiting request of another process must not be overwritten.
	last, err := answered(ctx, f, s.Path, func(q format.Request, a format.Answer) bool { return q.Number == a.Number || q.Number == 0 })
	if err != nil {
		return "", err
	}
	n := last.Number + 1
	err = newfile.Room(s.Path, format.ControlOffset+format.ControlSize)
	if err == nil {
		err = (&format.Request{Number: n, Command: c}).Store(f)
	}
	if err != nil {
		return "", fmt.Errorf("asking the recorder: %w", err)
	}
	a, err := answered(ctx, f, s.Path, func(_ format.Request, a format.Answer) bool { return a.Number == n })
	switch {
	case err != nil:
		return "", err
	case a.Failed:
		return "", errors.New(a.Text)
	case scope.Stats().Off != (c == format.CommandOff):
		return "", refuse(http.StatusConflict, "another request at the same time was executed; repeat yours")
	}
	return a.Text, nil
}

// answered waits until the control words satisfy is, while the trace is being
// recorded.
func answered(ctx context.Context, f *os.File, path string, is func(format.Request, format.Answer) bool) (format.Answer, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		// They may be inconsistent while another process writes them.
		switch q, a, err := format.ReadControl(f); {
		case err == nil && is(q, a):
			return a, nil
		case err != nil && !errors.Is(err, format.ErrRequest):
			return format.Answer{}, fmt.Errorf("asking the recorder: %w", err)
		}
		if s := scope.Stats(); !s.Running || s.Path != path {
			return format.Answer{}, scope.ErrStopped
		}
		select {
		case <-ctx.Done():
			return format.Answer{}, refuse(http.StatusGatewayTimeout, "the recorder did not answer in time; is the file system stuck, or the time between two flushes long? (%w)", ctx.Err())
		case <-tick.C:
		}
	}
}
