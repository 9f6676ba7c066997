// The front half of a deque instead, which is a slice that is read backwards.
package main

import "fmt"

type deque []int

func (d *deque) pushFront(v int) { *d = append(*d, v) }
func (d deque) at(i int) int     { return d[len(d)-1-i] }

func main() {
	sum := 0
	for range 10_000 {
		v := make(deque, 0, 1024)
		for i := range 1024 {
			v.pushFront(i)
		}
		sum += v.at(0) - v.at(1023)
	}
	fmt.Println(sum)
}
