package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(serviceVariable); name != "" {
		if err := service(name); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		return
	}
	dir, err := os.MkdirTemp("", "engines-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.dir = dir
	code := shmtest.Run(m.Run)
	os.RemoveAll(dir)
	os.Exit(code)
}
