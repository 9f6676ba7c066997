// Package main has functions of all shapes. Each is called in a way that prints what an edit
// of its text could change.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
)

func main() {
	for _, s := range shapes {
		fmt.Println("--", s.name)
		try(s.run)
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go worker(&wg, 3)
	wg.Wait()
	crash(4)
}

var shapes = []struct {
	name string
	run  func()
}{
	{"plain", func() { long(3); where() }},
	{"method", func() { t := &T{n: 2}; t.pointer(4); t.value(5); T.value(*t, 6) }},
	{"generic", func() { fmt.Println(mapped([]int{1, 2}, func(i int) string { return fmt.Sprint(i + 1) })); fmt.Println(mapped([]string{"a"}, strings.ToUpper)) }},
	{"genericMethod", func() { l := &list[int]{}; l.push(1); l.push(2); l.each(func(i int) { fmt.Println(i); where() }) }},
	{"closures", func() { func() { long(1); func() { long(2); where() }() }() }},
	{"variadic", func() { variadic("a", 1, 2, 3); variadic("b"); variadic("c", []int{4, 5}...) }},
	{"named", func() { n, err := named(3); fmt.Println(n, err); n, err = named(-1); fmt.Println(n, err) }},
	{"recursive", func() { fmt.Println(fib(10)) }},
	{"panics", func() { panics(7) }},
	{"index", func() { outOfRange([]int{1}, 5) }},
	{"nil", func() { var t *T; t.pointer(1) }},
	{"recovers", func() { recovers(); recovers2() }},
	{"deferLoop", func() { deferLoop(4) }},
	{"many", func() { for i := range 22 { fmt.Print(manyReturns(i), " ") }; fmt.Println() }},
	{"goto", func() { gotos(3) }},
	{"labels", func() { labels() }},
	{"rangeFunc", func() { rangeFunc() }},
	{"oneLine", func() { oneLine(1); a(); b() }},
	{"empty", func() { empty(1, 2); blank(1, 2) }},
	{"goexit", func() { goexit() }},
	{"errors", func() { fmt.Println(wrapped()) }},
	{"shadow", func() { fmt.Println(shadow(1, "x", true)) }},
	{"directive", func() { directive() }},
	{"selects", func() { selects() }},
	{"deferOrder", func() { deferOrder() }},
	{"wraps", func() { wraps() }},
	{"args", func() { args(1, "two", true, time.Second, 2.5, kind(3), nil, nil, 'r') }},
	{"literal", func() { fmt.Println(literal(2)) }},
	{"caller", func() { outer() }},
	{"multi", func() { multi(1,
		2) }},
}

// try prints what a panic says, and the lines of its stack.
func try(f func()) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Println("panic:", r)
			fmt.Println(stack())
		}
	}()
	f()
}

// stack is the stack as debug.Stack prints it.
func stack() string { return string(debug.Stack()) }

// where prints the lines of its callers, and of their functions.
func where() {
	pcs := make([]uintptr, 20)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "main.") {
			fmt.Println("  at", f.Function, f.File, f.Line)
		}
		if !more {
			return
		}
	}
}

func long(n int) {
	for i := 0; i < n; i++ {
		fmt.Println("long", i)
	}
}

// T has methods.
type T struct{ n int }

func (t *T) pointer(n int) {
	t.n += n
	fmt.Println(t.n, n)
	where()
}

func (t T) value(n int) {
	t.n += n
	fmt.Println(t.n, n)
	where()
}

func mapped[A, B any](in []A, f func(A) B) (out []B) {
	for _, a := range in {
		out = append(out, f(a))
	}
	where()
	return out
}

type list[E any] struct {
	next *list[E]
	e    E
}

func (l *list[E]) push(e E) {
	for l.next != nil {
		l = l.next
	}
	l.next = &list[E]{e: e}
	fmt.Println("pushed", e)
}

func (l *list[E]) each(f func(E)) {
	for l = l.next; l != nil; l = l.next {
		func() { f(l.e); where() }()
	}
}

func variadic(s string, ns ...int) { for _, n := range ns { fmt.Println(s, n) }; fmt.Println(len(ns)); where() }

func named(n int) (out int, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = -1, fmt.Errorf("recovered: %v", r)
		}
	}()
	out = n * 2
	if n < 0 { panic("negative") }
	where()
	return
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

//go:noinline
func panics(n int) { fmt.Println("before"); if n > 3 { panic(fmt.Sprint("n is ", n)) }; fmt.Println("after") }

//go:noinline
func outOfRange(s []int, i int) int {
	fmt.Println(len(s)); return s[i]
}

func recovers() {
	defer func() {
		where()
		fmt.Println("recovered", recover())
	}()
	panic("one")
}

// recovers2 has a recover that is called too deep to recover.
func recovers2() {
	defer func() { fmt.Println("outer", recover()); where() }()
	defer func() {
		func() { fmt.Println("inner", recover()); where() }()
	}()
	panic("two")
}

func deferLoop(n int) {
	for i := range n {
		defer fmt.Println("deferred", i)
	}
	where()
}

func manyReturns(n int) string {
	defer func() { recover(); fmt.Print("") }()
	switch n {
	case 0: return "0"
	case 1: return "1"
	case 2: return "2"
	case 3: return "3"
	case 4: return "4"
	case 5: return "5"
	case 6: return "6"
	case 7: return "7"
	case 8: return "8"
	case 9: return "9"
	case 10: return "10"
	case 11: return "11"
	case 12: return "12"
	case 13: return "13"
	case 14: return "14"
	case 15: return "15"
	case 16: return "16"
	case 17: return "17"
	case 18: return "18"
	case 19: return fmt.Sprint("19")
	case 20: panic("20")
	}
	return "more"
}

func gotos(n int) {
again:
	if n == 0 {
		goto end
	}
	fmt.Println("goto", n)
	n--
	goto again
end:
	where()
}

func labels() {
outer:
	for i := range 3 {
		for j := range 3 {
			switch {
			case j == 1:
				continue outer
			case i == 2:
				break outer
			}
			fmt.Println(i, j)
		}
	}
}

func count(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			fmt.Println("yield", i)
			if !yield(i) {
				return
			}
		}
	}
}

func rangeFunc() {
	for i := range count(3) {
		defer fmt.Println("deferred in the body", i)
		func() { fmt.Println("in", i); where() }()
		if i == 1 {
			break
		}
	}
	func() { where(); fmt.Println("behind") }()
}

func oneLine(n int) { fmt.Println(n); where() }

func a() { fmt.Println("a"); where() }; func b() { fmt.Println("b"); where() }

func empty(_, n int) {}

func blank(_ int, _ int) { fmt.Println("blank"); where() }

func goexit() {
	done := make(chan bool)
	go func() {
		defer close(done)
		defer where()
		runtime.Goexit()
	}()
	<-done
}

var errBase = errors.New("base")

func wrapped() error {
	if err := fmt.Errorf("wrapped: %w", errBase); errors.Is(err, errBase) {
		return err
	}
	return nil
}

func shadow(h int, string string, true bool) any {
	Enter := h
	fmt.Println(h, string, true, Enter)
	return h + Enter
}

func directive() {
	fmt.Println("directive"); where()
/*line other.go:100*/	where(); func() { fmt.Println(); where() }()
/*line other.go:200:30*/ where(); func() { fmt.Println(); where() }()
//line third.go:300
	func() { fmt.Println(); where() }()
	where()
}

func selects() {
	c := make(chan int, 1)
	for range 2 {
		select {
		case c <- 1:
			fmt.Println("sent")
		case n := <-c:
			fmt.Println("received", n)
		}
	}
}

func deferOrder() {
	defer fmt.Println("last")
	defer func() { fmt.Println("first"); where() }()
	fmt.Println("body")
}

func wraps() {
	defer prints("deferred", 1)
	panic("wraps")
}

func prints(s string, n int) { fmt.Println(s, n); where() }

type kind int

func (kind) String() string { panic("a method was called") }

func args(n int, s string, b bool, d time.Duration, f float64, k kind, e error, p *int, r rune) {
	fmt.Println(n, s, b, d, f, int(k), e, p, r)
}

func literal(n int) int {
	return func(i int) int { where(); return i * n }(func() int { where(); return n + 1 }())
}

func inner() (string, int) {
	_, file, line, _ := runtime.Caller(1)
	fmt.Println("inner")
	return file, line
}

func outer() { fmt.Println(inner()); fmt.Println(inner())
	fmt.Println(inner()) }

func multi(x int,
	y int) (z int) { fmt.Println(x,
		y); where(); return x }

func worker(wg *sync.WaitGroup, n int) {
	defer wg.Done()
	where()
	fmt.Println(strings.Repeat("w", n), len(stack()) > 0)
}

func crash(n int) {
	defer fmt.Println("crashing")
	var m map[string]int
	if n > 3 { fmt.Fprintln(os.Stderr, "to crash"); m["x"] = 1 }
}
