// Command victim does one thing, of a known amount.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

//go:noinline
func hot(n int) (s int) {
	for i := range n {
		s += i * i % 7
	}
	return s
}

// cpu returns the CPU time of the thread, which does not depend on other
// programs.
func cpu() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// work has a frame of its own, so that it is on the stack.
//
//go:noinline
func work(d time.Duration) (s int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for until := cpu() + d; cpu() < until; {
		s += hot(100_000)
	}
	return s
}

//go:noinline
func deep(n int, d time.Duration) int {
	if n == 0 {
		return work(d)
	}
	return deep(n-1, d) + 1
}

func main() {
	switch os.Args[1] {
	case "hot":
		fmt.Println(work(300 * time.Millisecond))
	case "deep":
		fmt.Println(deep(300, 200*time.Millisecond) + work(100*time.Millisecond))
	case "twice":
		work(300 * time.Millisecond)
		fmt.Println("half")
		work(600 * time.Millisecond)
		fmt.Println("done")
	case "threads":
		done := make(chan int)
		for range 3 {
			go func() { done <- work(200 * time.Millisecond) }()
		}
		fmt.Println(<-done + <-done + <-done)
	case "faults":
		const pages = 2000
		b, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err == nil {
			err = syscall.Madvise(b, 15) // MADV_NOHUGEPAGE: a page is a fault
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		touch(b)
	case "account":
		if err := account(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	case "calls":
		f, err := os.Open("/dev/zero")
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		b := make([]byte, 1<<20)
		runtime.LockOSThread()
		for until := cpu() + 300*time.Millisecond; cpu() < until; {
			f.Read(b)
		}
	case "switches":
		pingPong(80_000)
	case "child":
		cmd := exec.Command(os.Args[0], "hot")
		cmd.Stdout = os.Stdout
		if err := cmd.Run(); err != nil {
			fmt.Println(err)
		}
	case "traced":
		b, _ := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "TracerPid:") {
				fmt.Print(line)
			}
		}
		os.Exit(7)
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// pingPong has two threads wake each other.
func pingPong(times int) {
	var there, back [2]int
	for _, p := range [][]int{there[:], back[:]} {
		if err := syscall.Pipe(p); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	go func() {
		runtime.LockOSThread()
		b := make([]byte, 1)
		for range times {
			syscall.Read(there[0], b)
			syscall.Write(back[1], b)
		}
	}()
	runtime.LockOSThread()
	b := make([]byte, 1)
	for range times {
		syscall.Write(there[1], b)
		syscall.Read(back[0], b)
	}
}

//go:noinline
func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
}
