package peer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/chrometracing"
)

// ChromeTracing is google/chrometracing: an event at the begin and one at the end, each
// marshaled as JSON and written to a file under a lock. It cannot be stopped, so a recording
// is the output since its Start.
type ChromeTracing struct {
	from, count int64
	// ReadBack makes Stop read what was written.
	ReadBack bool
}

// chromeFile is the process's only file, which was unlinked.
var chromeFile struct {
	once sync.Once
	f    *os.File
	err  error
}

func (*ChromeTracing) Name() string { return "google/chrometracing, to a file" }

// Start enables tracing.
func (p *ChromeTracing) Start(dir string) error {
	c := &chromeFile
	c.once.Do(func() {
		if c.err = os.Setenv("CHROMETRACING_DIR", dir); c.err != nil {
			return
		}
		chrometracing.EnableTracing()
		if c.f, c.err = os.Open(chrometracing.Path()); c.err == nil {
			c.err = os.Remove(chrometracing.Path()) // its directory goes before the process
		}
	})
	if c.err != nil {
		return fmt.Errorf("google/chrometracing has no file: %w", c.err)
	}
	var err error
	p.from, err = c.f.Seek(0, io.SeekEnd)
	p.count = 0
	return err
}

//go:noinline
func chromeEvent() { defer chrometracing.Event("f1").Done() }

// Loop records n events.
func (p *ChromeTracing) Loop(n int) {
	for range n {
		chromeEvent()
	}
	atomic.AddInt64(&p.count, int64(n))
}

// Nest records events in an event.
func (p *ChromeTracing) Nest(outer string, inner ...string) {
	defer chrometracing.Event(outer).Done()
	for _, name := range inner {
		chrometracing.Event(name).Done()
	}
	p.count += int64(1 + len(inner))
}

// Stop returns the requested number of events, or reads the output. Each pending event has a
// thread id of its own, so the order determines the nesting.
func (p *ChromeTracing) Stop() (Recorded, error) {
	if !p.ReadBack {
		return Recorded{Scopes: p.count}, nil
	}
	if _, err := chromeFile.f.Seek(p.from, io.SeekStart); err != nil {
		return Recorded{}, err
	}
	rec := Recorded{Paths: make(map[string]int64)}
	var open []string
	lines := bufio.NewScanner(chromeFile.f)
	for lines.Scan() {
		var e struct{ Name, Ph string }
		if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(lines.Text(), "["), ",")), &e); err != nil {
			return rec, fmt.Errorf("google/chrometracing wrote %q: %w", lines.Text(), err)
		}
		switch {
		case e.Ph == "B":
			open = append(open, e.Name)
		case e.Ph == "E" && len(open) > 0:
			rec.Scopes++
			rec.Paths[strings.Join(open, "/")]++
			open = open[:len(open)-1]
		}
	}
	return rec, lines.Err()
}
