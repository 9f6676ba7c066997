// Command prog has lines with known properties.
package main

var kept *int

// third is inlined in two places.
func third(n int) int {
	return n * n / 3
}

//go:noinline
func index(list []int, i int) int {
	return list[i] // checked
}

//go:noinline
func escapes(n int) *int {
	x := n // moved to the heap
	return &x
}

//go:noinline
func generic[T int | int64](n T) T { return n + 1 }

func dead() int {
	const never = false
	if never {
		println("dead")
	}
	return 1
}

//go:noinline
func first(n int) int { return third(n) + 1 }

//go:noinline
func second(n int) int {
	return third(n) - 1
}

func main() {
	kept = escapes(index([]int{1, 2, 3}, 1))
	println(first(3), second(4), dead(), generic(5), generic(int64(6)), *kept)
}
