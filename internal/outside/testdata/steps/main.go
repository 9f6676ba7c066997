// Command steps stops itself, and then calls functions of all kinds.
package main

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"syscall"
)

func init() { runtime.LockOSThread() }

type shape interface{ area(n int) int }

type square struct{ a [4]int }

//go:noinline
func (s *square) area(n int) int { return s.side(n) * s.side(n+1) }

//go:noinline
func (s *square) side(n int) int { return s.a[n&3] + n }

type frame struct{ *square } // its area is a wrapper, which jumps

//go:noinline
func generic[T int | string](list []T) (last T) {
	for _, x := range list {
		last = same(x)
	}
	return last
}

//go:noinline
func same[T any](x T) T { return x }

//go:noinline
func deep(n int) int {
	var room [64]int
	if n == 0 {
		return 0
	}
	room[n&63] = n
	return deep(n-1) + room[(n+1)&63]
}

//go:noinline
func even(n int) bool { return n == 0 || odd(n-1) }

//go:noinline
func odd(n int) bool { return n != 0 && even(n-1) }

//go:noinline
func deferred(n int) (s int) {
	defer func() { s += n }()
	return n
}

//go:noinline
func large(n int) int {
	var b [1 << 12]byte
	b[n&(1<<12-1)] = 1
	return same(int(b[(n+1)&(1<<12-1)]))
}

var kept [][]byte

func main() {
	shapes := []shape{&square{}, frame{&square{}}, &frame{&square{}}}
	text := []byte(strings.Repeat("a", 100) + "b")
	if err := syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), syscall.SIGSTOP); err != nil {
		os.Exit(1)
	}
	n := 0
	for i := range 1000 {
		for _, s := range shapes {
			n += s.area(i)
		}
		n += generic([]int{1, 2, 3}) + len(generic([]string{"a", "b"})) + large(i) + deferred(i)
		if even(20) && bytes.IndexByte(text, 'b') == 100 && bytes.Count(text, []byte("a")) == 100 && strings.Compare(string(text), "b") < 0 {
			n++
		}
		add := func(m int) int { return same(m) + i }
		n += add(i) + len(map[int]int{i: add(i)})
		kept = append(kept[:0], make([]byte, 100+i))
		done := make(chan int, 1)
		done <- deep(30 * i)
		n += <-done
	}
	os.Exit(n & 1)
}
