// Each question waits for its answer: with buffers both would wait as often.
package main

import "fmt"

const n = 600_000

func main() {
	questions, answers := make(chan int), make(chan int)
	go func() {
		for q := range questions {
			answers <- q + 1
		}
	}()
	sum := 0
	for i := range n {
		questions <- i
		sum += <-answers
	}
	close(questions)
	fmt.Println(sum)
}
