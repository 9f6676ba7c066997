package main

import (
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/scope"
)

// goFiles lists the Go files below dir, at most limit of them unless limit is 0.
func goFiles(dir string, limit int) ([]string, error) {
	defer scope.Task("list", scope.KV("dir", dir))()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		if limit > 0 && len(files) == limit {
			return fs.SkipAll
		}
		return nil
	})
	return files, err
}

// pass processes the files once. The whole pass is one scope, which also records how many
// CPUs it kept busy.
func pass(files []string, workers, mergeEvery int) *stats {
	defer scope.Process("pass", scope.KV("files", len(files)), scope.KV("workers", workers))()
	s := newStats()
	paths := make(chan string)
	var running sync.WaitGroup
	for i := range workers {
		running.Add(1)
		scope.Go("worker "+strconv.Itoa(i+1), func() {
			defer running.Done()
			newWorker(s, mergeEvery).run(paths)
		})
	}
	for _, path := range files {
		paths <- path
	}
	close(paths)
	running.Wait()
	return s
}
