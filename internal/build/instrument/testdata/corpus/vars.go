package main

import "fmt"

// The output shows the order of initialisation: a table that is initialised after these
// variables, or that one of them waits for, would change it.
var (
	first  = order("first", 1)
	second = small() // not recorded
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
