package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// delay is how long the program's threads, as far as they live, could have run while
// others had their CPUs.
func delay() (sum time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended meanwhile
		}
		var ran, waited int64
		if _, err := fmt.Sscan(string(b), &ran, &waited); err == nil {
			sum += time.Duration(waited)
		}
	}
	return sum
}
