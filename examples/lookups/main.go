// Command lookups counts the words of a tree of Go files: in its identifiers, comments and
// texts, cut into words and these to their stems. Stems are remembered, and every lookup of
// a word, twelve million in Go's own tree, is counted with scope.Stack: by caller, hits and
// misses apart.
//
//	go run ./examples/lookups -trace traces/
//	scopeview stacks traces/ --skip 1
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/scope"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings as arguments; it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("lookups", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("dir", filepath.Join(build.Default.GOROOT, "src"), "read the Go files below this `directory`")
	trace := flags.String("trace", "", "record into this trace `file`, or into a new one in this directory")
	workers := flags.Int("workers", runtime.GOMAXPROCS(0), "how many files to work on at once")
	limit := flags.Int("limit-files", 0, "stop after so many files; 0: take all")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0 || *workers < 1 || *limit < 0:
		fmt.Fprintln(stderr, "lookups: it takes flags only, -workers is at least 1, -limit-files at least 0")
		return 2
	}
	t, err := record(*trace, *dir, *workers, *limit)
	if err == nil {
		err = t.print(stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "lookups:", err)
		return 1
	}
	return 0
}

// record does the work within a recording, if one is asked for.
func record(trace, dir string, workers, limit int) (t *total, err error) {
	if trace != "" {
		if err := scope.Start(trace); err != nil {
			return nil, fmt.Errorf("recording can't start: %w", err)
		}
		defer func() { err = errors.Join(err, scope.Stop()) }()
	}
	files, err := goFiles(dir, limit)
	if err != nil {
		return nil, fmt.Errorf("the files can't be listed: %w", err)
	}
	return read(files, workers)
}

// goFiles lists the Go files below dir, at most limit of them unless that is 0.
func goFiles(dir string, limit int) (files []string, err error) {
	defer scope.Task("list")()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
			if len(files) == limit {
				return fs.SkipAll
			}
		}
		return err
	})
	return files, err
}

// total has the results of all workers.
type total struct {
	mu     sync.Mutex
	stems  map[string]int
	counts [sources]count
	files  int
	err    error // the first file that could not be read
}

// read works through the files.
func read(files []string, workers int) (*total, error) {
	defer scope.Process("read", scope.KV("files", len(files)))()
	t := &total{stems: map[string]int{}}
	paths := make(chan string)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			r := newReader()
			for path := range paths {
				r.file(path)
			}
			t.add(r)
		})
	}
	for _, path := range files {
		paths <- path
	}
	close(paths)
	running.Wait()
	return t, t.err
}

func (t *total) add(r *reader) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for stem, n := range r.stems {
		t.stems[stem] += n
	}
	for i := range t.counts {
		t.counts[i].hits += r.counts[i].hits
		t.counts[i].misses += r.counts[i].misses
	}
	t.files += r.files
	t.err = cmp.Or(t.err, r.err)
}

func (t *total) print(w io.Writer) error {
	fmt.Fprintf(w, "%d files, %d stems\n\nmost used\n", t.files, len(t.stems))
	most := slices.SortedFunc(maps.Keys(t.stems), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.stems[b], t.stems[a]), cmp.Compare(a, b))
	})
	for _, s := range most[:min(10, len(most))] {
		fmt.Fprintf(w, "%9d %s\n", t.stems[s], s)
	}
	fmt.Fprintf(w, "\n%-12s %12s %12s\n", "looked up by", "hits", "misses")
	var err error
	for i, c := range t.counts {
		_, err = fmt.Fprintf(w, "%-12s %12d %12d\n", source(i), c.hits, c.misses)
	}
	return err
}
