package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// stuckProgram runs into a deadlock, or an apparent one, depending on its argument.
const stuckProgram = `-- go.mod --
module example.com/stuck

go 1.23
-- main.go --
package main

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"
)

const while = 2500 * time.Millisecond

func main() {
	var mu sync.Mutex
	mu.Lock()
	if os.Args[1] == "exited" {
		runtime.Goexit()
	}
	go func() { mu.Lock() }()
	switch os.Args[1] {
	case "asleep":
		go func() { time.Sleep(while); os.Exit(3) }()
	case "timer":
		time.AfterFunc(while, func() { os.Exit(4) })
	case "channel":
		<-time.After(while)
		return
	case "ticker":
		for range time.Tick(while) {
			return
		}
	case "select":
		select {
		case <-time.NewTimer(while).C:
			return
		case <-make(chan int):
		}
	case "pipe":
		r, w, _ := os.Pipe()
		go func() { time.Sleep(while); w.Close() }()
		r.Read(make([]byte, 1))
		return
	case "signal":
		c := make(chan os.Signal, 1)
		signal.Notify(c)
		time.AfterFunc(while, func() { c <- os.Kill })
		<-c
		return
	}
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait()
}
`

// TestRunDeadlock: a program that deadlocks ends as its plain build does, with its trace closed;
// after an apparent deadlock it continues.
func TestRunDeadlock(t *testing.T) {
	l := launching(t, stuckProgram)
	plain := filepath.Join(t.TempDir(), "stuck")
	if r := l.process(append(l.env, "CGO_ENABLED=0"), "", "go", "build", "-o", plain, "."); r.code != 0 {
		t.Fatal(r)
	}
	numbers := regexp.MustCompile(`[+]?0x[0-9a-f]+[?]?|goroutine \d+|\{.*\}`)
	for _, c := range []struct {
		how  string
		args []string // before the directory
		dead bool
	}{
		{"dead", nil, true},
		{"dead", []string{"--no-states"}, true},
		{"exited", nil, true},
		{"asleep", nil, false},
		{"timer", nil, false},
		{"channel", nil, false},
		{"ticker", []string{"--no-states"}, false},
		{"select", nil, false},
		{"pipe", nil, false},
		{"signal", nil, false},
	} {
		t.Run(strings.Join(append(c.args, c.how), " "), func(t *testing.T) {
			t.Parallel()
			want := l.process(l.env, "", plain, c.how)
			got := l.with([]string{"CGO_ENABLED=0"}, "", append(append([]string{"run"}, c.args...), ".", c.how)...)
			if got.code != want.code {
				t.Errorf("exit code %d, want %d; it said\n%s", got.code, want.code, got.err)
			}
			said, ours, _ := strings.Cut(got.err, "scopeview: ")
			if said, want := numbers.ReplaceAllString(said, ""), numbers.ReplaceAllString(want.err, ""); said != want {
				t.Errorf("on standard error\n%s, want\n%s", said, want)
			}
			if dead := strings.Contains(ours, "deadlock: no goroutine"); dead != c.dead {
				t.Errorf("said %s; want a deadlock %v", ours, c.dead)
			}
			if names := l.scopes(got.err); names["main.main"] != 1 && c.how != "exited" {
				t.Errorf("recorded %v", names)
			}
		})
	}
}
