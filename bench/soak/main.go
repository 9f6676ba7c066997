//go:build linux

// Command soak records a million scopes a second into a ring, and checks the use of
// the machine: the file's blocks on disk, the process's memory and mappings, and
// losses. Meanwhile other processes of its
// own are killed while they record into small rings, and what they leave must be
// whole.
//
//	go run ./soak            ten minutes
//	go run ./soak -for 15s   the same, shortened
//
// With -tools it records 50,000 scopes a second, as a program in production does, and uses all
// tools on it at once: serve, ctl, snapshots and a trigger. Nothing may be lost then.
//
// It prints a line per minute and a summary, and exits 1 if anything that it looks
// at was not as it is promised to be. The traces of those are kept.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"time"
)

// soak has the parameters of a run.
type soak struct {
	dir      string // for traces
	span     time.Duration
	ring     int64 // of the steady writer
	rate     int   // its scopes per second
	killRing int64
	kills    int // maximum number at once; 0: none
	tools    bool
	verdicts
}

func main() {
	var (
		s      soak
		w      writer
		failed = filepath.Join(os.TempDir(), "scopeview-soak-failed")
	)
	flag.DurationVar(&s.span, "for", 10*time.Minute, "record so long")
	flag.Int64Var(&s.ring, "ring", 64<<20, "`bytes` of the ring")
	flag.IntVar(&s.rate, "rate", 1_000_000, "scopes per `second`")
	flag.Int64Var(&s.killRing, "kill-ring", 8<<20, "`bytes` of the rings of those that are killed")
	flag.IntVar(&s.kills, "kills", 1, "kill so `many` at a time; 0: none")
	flag.BoolVar(&s.tools, "tools", false, "have tools look at the writer, ask it for snapshots and set its filter, and allow no loss; see -rate and -kills")
	flag.StringVar(&s.keep, "keep", failed, "keep the traces of what failed in this `directory`")
	flag.StringVar(&w.trigger, "trigger", "", "for the writer: write triggered snapshots into this `directory`")
	dir := flag.String("dir", "", "write traces below this `directory` (default: the system's for temporary files)")
	flag.StringVar(&w.path, "write", "", "be the one that records, into this `file`; for soak itself, with -ring and -rate")
	flag.Parse()

	err := func() error {
		if w.path != "" {
			w.ring, w.rate = s.ring, s.rate
			return w.record()
		}
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		defer stop()
		var err error
		if s.dir, err = os.MkdirTemp(*dir, "scopeview-soak-"); err != nil {
			return fmt.Errorf("no directory for traces: %w", err)
		}
		defer os.RemoveAll(s.dir)
		return s.run(ctx)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// run runs the soak test, and prints the results.
func (s *soak) run(ctx context.Context) error {
	var u *tools
	if s.tools {
		var err error
		if u, err = s.buildTool(ctx); err != nil {
			return err
		}
	}
	ctx, stop := context.WithTimeout(ctx, s.span)
	defer stop()
	var victims toll
	var killing sync.WaitGroup
	for range s.kills {
		killing.Go(func() {
			for ctx.Err() == nil {
				s.killOne(ctx, &victims)
			}
		})
	}
	st := s.steady(ctx, &victims, u)
	stop()
	killing.Wait()
	if s.kills > 0 && victims.traces == 0 {
		s.fail("nobody was killed: %v are too short", s.span)
	}
	if st != nil {
		st.summary(os.Stdout)
	}
	victims.summary(os.Stdout, s.kills > 0)
	for _, v := range s.list() {
		fmt.Println("VIOLATION:", v)
	}
	if n := s.count(); n > 0 {
		return fmt.Errorf("%d violations", n)
	}
	if context.Cause(ctx) == context.Canceled && st == nil {
		return errors.New("interrupted")
	}
	fmt.Println("everything is as it is promised")
	return nil
}
