package main

import "fmt"

// The order of these is told by what they print: a table that is initialised after them, or
// that one of them waits for, would change it.
var (
	first  = order("first", 1)
	second = small() // is not recorded
	third  = func() int { fmt.Println("third"); where(); return 3 }()
	sum    = first + second + third
)

func order(s string, n int) int {
	for range n {
		fmt.Println(s)
	}
	where()
	return n
}

func small() int { fmt.Println("second"); return 2 }

func init() { fmt.Println("init 0", sum); where() }

func init() { fmt.Println("init 1", sum); where() }
