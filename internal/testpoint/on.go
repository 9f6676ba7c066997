//go:build scope_testpoint && unix

package testpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// order is an action at a point.
type order struct {
	nth    int64
	action string
	passed atomic.Int64
}

var (
	orders  = map[string]*order{}
	reports = -1 // file descriptor
)

func init() {
	for o := range strings.SplitSeq(os.Getenv("SCOPEVIEW_TESTPOINTS"), ",") {
		f := strings.Split(o, ":")
		if len(f) != 3 {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil {
			orders[f[0]] = &order{nth: n, action: f[2]}
		}
	}
	if fd, err := strconv.Atoi(os.Getenv("SCOPEVIEW_TESTPOINTS_FD")); err == nil {
		reports = fd
	}
}

// Here is a point between two steps: it runs the action for its name.
func Here(name string) {
	o := orders[name]
	if o == nil || o.passed.Add(1) != o.nth {
		return
	}
	if o.action == "kill" {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		stay()
	}
	if reports >= 0 {
		_, _ = syscall.Write(reports, []byte(name+"\n"))
	}
	if o.action == "park" {
		stay()
	}
}

// stay never returns. A select without cases would end a program without other running
// goroutines, as a deadlock.
func stay() {
	for {
		time.Sleep(time.Hour)
	}
}
