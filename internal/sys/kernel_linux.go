package sys

import "golang.org/x/sys/unix"

// Kernel returns the kernel's release.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
