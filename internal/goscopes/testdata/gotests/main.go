// Gotests writes the Go execution traces of the tests of Go's own reader as files. For each it
// prints the name, a tab, and whether Go's reader must refuse it. It is built as a package of the
// standard library, by an overlay, since only such a package may import internal/trace.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"internal/trace/testtrace"
)

func main() {
	files, err := filepath.Glob(filepath.Join(os.Args[1], "*.test"))
	for _, f := range files {
		if err == nil {
			err = write(f, os.Args[2])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotests:", err)
		os.Exit(1)
	}
}

func write(file, dir string) error {
	r, _, want, err := testtrace.ParseFile(file)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".test") + ".trace"
	// If reading should fail, a nil error is wrong.
	fmt.Printf("%s\t%v\n", name, want.Check(nil) != nil)
	return errors.Join(err, os.WriteFile(filepath.Join(dir, name), b, 0o600))
}
