// Asleep deadlocks, or seems to, as its first argument says. With a second argument it records,
// with that backing, into the file that the third one names.
package main

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// while is the duration of an apparent deadlock.
const while = 1500 * time.Millisecond

// ends are the ways in which the program ends, each with its own exit code.
var ends = map[string]func(){
	"mutex":   func() { var mu sync.Mutex; mu.Lock(); mu.Lock() },
	"rwmutex": func() { var mu sync.RWMutex; mu.RLock(); mu.Lock() },
	"channel": func() { <-make(chan int) },
	"nil":     func() { var c chan int; c <- 1 },
	"group":   func() { var wg sync.WaitGroup; wg.Add(1); wg.Wait() },
	"cond":    func() { var mu sync.Mutex; mu.Lock(); sync.NewCond(&mu).Wait() },
	"select":  func() { select {} },
	"goexit":  func() { runtime.Goexit() },
	"others": func() {
		c := make(chan int)
		for range 50 {
			go func() { c <- 1 }()
		}
		select {}
	},
	"locked": func() { runtime.LockOSThread(); select {} },

	"sleep":  func() { time.Sleep(while); os.Exit(10) },
	"after":  func() { <-time.After(while); os.Exit(11) },
	"func":   func() { time.AfterFunc(while, func() { os.Exit(12) }); select {} },
	"ticker": func() { <-time.Tick(while); os.Exit(13) },
	"long":   func() { time.AfterFunc(while, func() { os.Exit(14) }); <-time.After(time.Hour) },
	"pipe": func() {
		r, w, _ := os.Pipe()
		go func() { time.Sleep(while); w.Close() }()
		_, _ = r.Read(make([]byte, 1))
		os.Exit(15)
	},
	"call": func() {
		ts := syscall.NsecToTimespec(int64(while))
		for syscall.Nanosleep(&ts, &ts) != nil {
		}
		os.Exit(16)
	},
	"signal": func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGUSR1)
		fmt.Println("ready")
		<-c // from the parent
		os.Exit(17)
	},
	"listen": func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(l.Addr())
		_, _ = l.Accept() // from the parent
		os.Exit(18)
	},
	"work": func() {
		for from := time.Now(); time.Since(from) < while; {
		}
		os.Exit(19)
	},
}

func main() {
	if len(os.Args) > 2 {
		options := []scope.Option{scope.WithHeartbeat(50 * time.Millisecond), scope.WithFlushEvery(50 * time.Millisecond)}
		if os.Getenv("ASLEEP_USUAL") != "" {
			options = nil
		}
		for o := range strings.SplitSeq(os.Args[2], ",") {
			if n, err := strconv.Atoi(o); err == nil {
				options = append(options, scope.WithBacking(scope.BackingKind(n)))
			} else if o == "ring" {
				options = append(options, scope.WithRing(scope.MinRing), scope.WithTrigger("*", time.Hour, os.Args[3]+".d"))
			}
		}
		if err := scope.Start(os.Args[3], options...); err != nil {
			panic(err)
		}
	}
	scope.Task("open")
	scope.Task("ended")()
	ends[os.Args[1]]()
}
