// A stack of any: each number is allocated.
package main

import "fmt"

type stack struct{ all []any }

//go:noinline
func (s *stack) push(v any) { s.all = append(s.all, v) }

func main() {
	s := stack{all: make([]any, 0, 1000)}
	sum := 0
	for i := range 20_000 {
		s.all = s.all[:0]
		for k := range 1000 {
			s.push(i + k + 1000)
		}
		sum += s.all[i%1000].(int)
	}
	fmt.Println(sum)
}
