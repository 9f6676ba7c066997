//go:build unix

package main

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that are forwarded to the program.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// fromTerminal reports whether an interrupt came from the terminal, which also sends it to the
// program.
func fromTerminal() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitCode returns a process's exit code as a shell does: 128 plus the number of the signal that
// ended it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// endedBy returns how a process ended, in the form of analysis.FactEnded.
func endedBy(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return "signal " + w.Signal().String()
	}
	return "exit " + strconv.Itoa(s.ExitCode())
}
