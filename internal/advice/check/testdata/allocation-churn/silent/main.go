// Blocks that are all kept: nothing dies.
package main

import "fmt"

func main() {
	n := 0
	for i := range 60 {
		var keep []*[4096]byte
		if i%20 == 0 {
			all = nil
		}
		for k := range 300 {
			b := new([4096]byte)
			b[k%4096] = byte(i)
			keep = append(keep, b)
		}
		all = append(all, keep...)
		for _, b := range all {
			for _, v := range b {
				n += int(v)
			}
		}
	}
	fmt.Println(n, len(all) > 0)
}

var all []*[4096]byte
