//go:build unix

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// unwritten returns a pipe without a writer.
func unwritten(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// A reader blocked in open gets a writer at the end.
	t.Cleanup(func() {
		if f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			f.Close()
		}
	})
	return path
}

// pipeOf returns a named pipe with data.
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
