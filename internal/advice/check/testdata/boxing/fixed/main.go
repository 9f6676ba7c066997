// The same stack with a type parameter.
package main

import "fmt"

type stack[T any] struct{ all []T }

//go:noinline
func (s *stack[T]) push(v T) { s.all = append(s.all, v) }

func main() {
	s := stack[int]{all: make([]int, 0, 1000)}
	sum := 0
	for i := range 20_000 {
		s.all = s.all[:0]
		for k := range 1000 {
			s.push(i + k + 1000)
		}
		sum += s.all[i%1000]
	}
	fmt.Println(sum)
}
