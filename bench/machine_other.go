//go:build !linux

package main

import "runtime"

func describe(string) (cpu, kernel, fileSystem string) {
	return "unknown CPU", runtime.GOOS, "an unknown file system"
}

func usableCPUs() []int { return []int{-1} }
