// A program with a mistake in every marked line, and none elsewhere.
package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/scopeview/scopeview/scope"
)

var mu sync.Mutex

func main() {
	if err := scope.Start("traces/"); err != nil {
		os.Exit(1)
	}
	defer scope.Stop()
	defer scope.Task("main")                    // mistake
	defer scope.Lock(&mu, "mu")                 // mistake
	defer scope.Pending("exit")                 // mistake
	defer scope.Begin("main")                   // mistake
	scope.Process("stage", 5)                   // mistake
	_ = scope.Task("f1")                        // mistake
	go scope.Task("f2")                         // mistake
	scope.Task("f3")()                          // mistake
	go scope.Task("f4")()                       // mistake
	scope.Context(context.Background(), "f5")   // mistake
	defer scope.Taskf("read %s", 5)()           // mistake
	defer scope.Taskf("%d of %d", 5)()          // mistake
	defer scope.Taskf("%d", scope.KV("n", 5))() // mistake
	defer scope.Taskf("%y", time.Second)()      // mistake
	if err := parse("", nil); err != nil {
		scope.Event("failed", err.Error())
	}
	defer region("a") // mistake
	defer region("b")()
	good(nil).End()
}

func parse(file string, end func()) error {
	s := scope.Begin("parse", scope.KV("file", file))
	if file == "" {
		return errors.New("no file") // mistake
	}
	s.End(len(file))
	t := scope.Begin("never") // mistake
	_ = t
	end = scope.Task("replaced")
	end()
	return nil
}

func region(name string) func() { return scope.Task("region " + name) }

func good(spans []scope.Span) scope.Span {
	defer scope.Lock(&mu, "mu")()
	defer scope.Taskf("%d of %s", 5, "x", scope.KV("d", time.Second))()
	spans = append(spans, scope.Begin("kept"))
	s := scope.Begin("captured")
	go func() { s.End() }()
	return scope.Begin("returned")
}
