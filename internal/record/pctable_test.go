//go:build !scope_off

package record

import (
	"sync"
	"testing"
)

// TestPCTable: each address has one value and one number, whichever goroutine asks first, until the
// table is full.
func TestPCTable(t *testing.T) {
	table := pcTable[uintptr]{index: new(pcIndex)}
	makes := func(pc uintptr) *uintptr { return &pc }
	const n = pcMost / 4
	var numbers [4][n]int
	var wg sync.WaitGroup
	for g := range numbers {
		wg.Go(func() {
			for i := range n {
				pc := uintptr(0x400000 + 5*i)
				v, number := table.at(pc, makes)
				if v == nil || *v != pc || table.get(number) != v {
					t.Errorf("%#x: %v, number %d", pc, v, number)
					return
				}
				numbers[g][i] = number
			}
		})
	}
	wg.Wait()
	for _, of := range numbers[1:] {
		if of != numbers[0] {
			t.Error("an address has two numbers")
		}
	}
	for i := range 2 * pcMost {
		table.at(uintptr(0x40000000+16*i), makes)
	}
	if v, _ := table.at(0x7fff_fff0, makes); v != nil {
		t.Error("the table is full, and has room")
	}
	if v, number := table.at(0x400000, makes); v == nil || *v != 0x400000 || number != numbers[0][0] {
		t.Errorf("in a full table the first address has %v, number %d", v, number)
	}
}
