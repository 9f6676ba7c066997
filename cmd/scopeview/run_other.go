//go:build !unix

package main

import "os"

var forwarded = []os.Signal{os.Interrupt}

// fromTerminal: the console tells all processes.
func fromTerminal() bool { return true }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
