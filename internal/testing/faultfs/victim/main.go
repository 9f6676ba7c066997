//go:build linux

package victim

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// configVar is the environment variable that has the victim's Config.
const configVar = "SCOPEVIEW_VICTIM"

// Result is the report of a victim that ended by itself.
type Result struct {
	Stats    scope.Statistics // without LastError
	Path     string           // of the trace
	Started  time.Duration    // duration of scope.Start
	Stopped  time.Duration    // duration of scope.Stop
	StartErr string           // "": none
	StopErr  string
	LastErr  string
}

// Main is called by TestMain: in the victim it does not return. works are additional kinds
// of work besides Numbers.
func Main(works map[string]Work) {
	text := os.Getenv(configVar)
	if text == "" {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = record(c, works)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// record records until the test stops it or the victim is killed. The ledger is descriptor
// 3.
func record(c Config, works map[string]Work) error {
	l, err := openLedger(os.NewFile(3, "ledger"))
	if err != nil {
		return err
	}
	work := Numbers
	if c.Work != "" {
		if work = works[c.Work]; work == nil {
			return fmt.Errorf("there is no work %q", c.Work)
		}
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	for c.Hold && l.load(wordGo) == 0 {
		time.Sleep(time.Millisecond)
	}
	var r Result
	begin := time.Now()
	err = scope.Start(c.Path, o...)
	r.Started = time.Since(begin)
	if err != nil {
		if r.StartErr = err.Error(); !c.MayFail {
			return err
		}
	}
	var done sync.WaitGroup
	for i := range c.Workers {
		done.Go(func() { work(&Worker{Me: i, Config: c, l: l, begin: begin}) })
	}
	if c.Collect {
		done.Go(func() { collect(l) })
		done.Go(func() { beat(l) })
	}
	go poll(l)
	l.store(wordReady, 1)
	done.Wait()
	begin = time.Now()
	if err := scope.Stop(); err != nil {
		r.StopErr = err.Error()
	}
	r.Stopped = time.Since(begin)
	report(l)
	l.store(wordDone, 1)
	if r.Stats = scope.Stats(); r.Stats.LastError != nil {
		r.LastErr, r.Stats.LastError = r.Stats.LastError.Error(), nil
	}
	r.Path = scope.Path()
	return json.NewEncoder(os.Stdout).Encode(&r)
}
