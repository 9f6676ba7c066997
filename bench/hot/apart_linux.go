package hot

import "golang.org/x/sys/unix"

// apart keeps the calling thread on a CPU that the other of two does not use, until free is
// called; where there is one CPU, or nobody may choose, it does nothing. The kernel
// often begins both on one CPU, and one slice is over before it moves either: they would
// run one after the other, and what they share would cost nothing.
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
