package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// pinned is the CPU that the thread may run on; -1: any.
var pinned = -1

// everywhere is the initial set of CPUs of the thread.
var everywhere unix.CPUSet

// pin restricts the calling thread to a CPU; -1: no restriction.
func pin(cpu int) error {
	if cpu == pinned {
		return nil
	}
	if pinned < 0 {
		if err := unix.SchedGetaffinity(0, &everywhere); err != nil {
			return fmt.Errorf("the thread's CPUs are unknown: %w", err)
		}
	}
	set := everywhere
	if cpu >= 0 {
		set.Zero()
		set.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("the thread can't be pinned to CPU %d: %w", cpu, err)
	}
	pinned = cpu
	return nil
}
