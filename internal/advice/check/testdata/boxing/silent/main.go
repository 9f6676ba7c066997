// A stack of any, with values that need no allocation: pointers, and numbers below 256.
package main

import "fmt"

type stack struct{ all []any }

//go:noinline
func (s *stack) push(v any) { s.all = append(s.all, v) }

func main() {
	s := stack{all: make([]any, 0, 1000)}
	n := new(int)
	sum := 0
	for i := range 40_000 {
		s.all = s.all[:0]
		for k := range 500 {
			s.push(k % 256)
			s.push(n)
		}
		sum += s.all[2*(i%500)].(int)
	}
	fmt.Println(sum)
}
