//go:build unix

package main

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that the program is to have which somebody sends to us.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2}

// fromTerminal reports whether an interrupt came from the terminal, which sends it to the
// program too.
func fromTerminal() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// exitCode is a process's, as a shell has it: of one that a signal ended 128 and its number.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// endedBy returns how a process ended, as analysis.FactEnded has it.
func endedBy(s *os.ProcessState) string {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return "signal " + w.Signal().String()
	}
	return "exit " + strconv.Itoa(s.ExitCode())
}
