//go:build !linux

package main

import (
	"fmt"
	"os/exec"
	"runtime"
)

func start(c *exec.Cmd) error { return c.Start() }

// machine describes the machine.
func machine() string {
	return fmt.Sprintf("%d CPUs, %s %s/%s", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
