package hot

import "golang.org/x/sys/unix"

// apart pins the calling thread to a CPU that the other of two threads does not use, until
// free is called; with one CPU, or without permission, it does nothing. The kernel often
// starts both on one CPU, and a slice is over before it moves either: they would run one
// after the other, and contention would cost nothing.
func apart(i int) (free func()) {
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return func() {}
	}
	cpu := 0
	for n := i * (all.Count() - 1); !all.IsSet(cpu) || n > 0; cpu++ { // the first, or the last
		if all.IsSet(cpu) {
			n--
		}
	}
	one.Set(cpu)
	_ = unix.SchedSetaffinity(0, &one)
	return func() { _ = unix.SchedSetaffinity(0, &all) }
}
