//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// unwritten is a pipe that nobody writes to.
func unwritten(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Who waits for a writer gets one at the end.
	t.Cleanup(func() {
		if f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
	})
	return path
}

// pipeOf is a named pipe that something comes from.
func pipeOf(t *testing.T, data []byte) string {
	t.Helper()
	path := unwritten(t)
	go func() {
		if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			f.Write(data)
			f.Close()
		}
	}()
	return path
}
