// Each of many requests has a queue for ten numbers, and puts five into it.
package main

import "fmt"

const n = 20_000

func request(id int) (sum int) {
	queue := make(chan int, 10)
	for i := range 5 {
		queue <- id + i
	}
	close(queue)
	for v := range queue {
		sum += v
	}
	return sum
}

func main() {
	sum := 0
	for id := range n {
		sum += request(id)
	}
	fmt.Println(sum)
}
