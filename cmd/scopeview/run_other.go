//go:build !unix

package main

import (
	"os"
	"strconv"
)

var forwarded = []os.Signal{os.Interrupt}

// fromTerminal: the console sends an interrupt to all its processes.
func fromTerminal() bool { return true }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// endedBy returns how a process ended, in the form of analysis.FactEnded.
func endedBy(s *os.ProcessState) string { return "exit " + strconv.Itoa(s.ExitCode()) }
