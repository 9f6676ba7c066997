//go:build amd64 || arm64

package main

// one leaves 1 in the register, which is no address.
func one()

// zero leaves 0, which ends a chain of frames.
func zero()

// inStack leaves an address in the stack that is no frame.
func inStack()
