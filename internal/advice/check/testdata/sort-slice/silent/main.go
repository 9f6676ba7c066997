// Types with their own Swap method sort; and sort.Slice has little to sort.
package main

import (
	"fmt"
	"sort"
)

type record struct {
	key  int
	name string
}

func fill(all []record, v uint32) uint32 {
	for i := range all {
		v = v*1664525 + 1013904223
		all[i] = record{key: int(v >> 8)}
	}
	return v
}

type byKey []record

func (x byKey) Len() int           { return len(x) }
func (x byKey) Less(i, j int) bool { return x[i].key < x[j].key }
func (x byKey) Swap(i, j int)      { x[i], x[j] = x[j], x[i] }

func main() {
	all := make([]record, 10_000)
	sum, v := 0, uint32(1)
	for range 200 {
		v = fill(all, v)
		sort.Sort(byKey(all))
		sum += all[len(all)/2].key
	}
	few := all[:10]
	v = fill(few, v)
	sort.Slice(few, func(i, j int) bool { return few[i].key < few[j].key })
	fmt.Println(sum + few[5].key)
}
