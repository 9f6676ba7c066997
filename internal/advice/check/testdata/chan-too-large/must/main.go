// Each of many requests has a queue for 10,000 numbers, and puts five into it.
package main

import "fmt"

const n = 20_000

func request(id int) (sum int) {
	queue := make(chan int, 10_000)
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
