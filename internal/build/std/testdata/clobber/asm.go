//go:build amd64 || arm64

package main

// one leaves 1 in the register, which no address is.
func one()

// zero leaves 0, with which a chain of frames ends.
func zero()

// inStack leaves an address in the stack that no frame is at.
func inStack()
