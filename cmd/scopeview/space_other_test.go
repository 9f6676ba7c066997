//go:build !linux

package main

import "testing"

func smallFileSystem(t *testing.T) { t.Skip("a small file system can be mounted on Linux only") }
