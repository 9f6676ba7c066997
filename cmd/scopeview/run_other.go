//go:build !unix

package main

import (
	"os"
	"strconv"
)

var forwarded = []os.Signal{os.Interrupt}

// fromTerminal: the console tells all processes.
func fromTerminal() bool { return true }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// endedBy returns how a process ended, as analysis.FactEnded has it.
func endedBy(s *os.ProcessState) string { return "exit " + strconv.Itoa(s.ExitCode()) }
