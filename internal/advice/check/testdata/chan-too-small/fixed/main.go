// Each of two million numbers is handed over by a channel with room for some.
package main

import "fmt"

const n = 2_000_000

func main() {
	numbers := make(chan int, 64)
	go func() {
		for i := range n {
			numbers <- i
		}
		close(numbers)
	}()
	sum := 0
	for v := range numbers {
		sum += v
	}
	fmt.Println(sum)
}
