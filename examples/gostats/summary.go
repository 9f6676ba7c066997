package main

import (
	"bufio"
	"fmt"
	"io"
)

// print writes the summary. It is called when the workers are done.
func (s *stats) print(out io.Writer) error {
	w := bufio.NewWriter(out)
	sum := s.total()
	fmt.Fprintf(w, "%d files, %d of them not correct Go, %.1f MB, %.1f MB as gzip\n",
		s.files, s.broken, float64(sum.bytes)/1e6, float64(sum.packed)/1e6)
	fmt.Fprintf(w, "\n%12s  kind\n", "declarations")
	for _, kind := range kindOrder {
		fmt.Fprintf(w, "%12d  %s\n", s.kinds[kind], kind)
	}
	fmt.Fprintf(w, "\n%12s  identifier\n", "uses")
	for _, name := range leading(s.idents, func(n int) int { return n }) {
		fmt.Fprintf(w, "%12d  %s\n", s.idents[name], name)
	}
	fmt.Fprintf(w, "\n%12s  package\n", "kB")
	for _, dir := range s.largest {
		fmt.Fprintf(w, "%12.1f  %s\n", float64(s.packages[dir].bytes)/1e3, dir)
	}
	return w.Flush()
}
