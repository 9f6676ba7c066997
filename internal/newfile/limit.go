package newfile

import (
	"io/fs"
	"os"
)

// A write, or a growth, beyond the file size limit (RLIMIT_FSIZE, ulimit -f) is not only an
// error: the kernel sends SIGXFSZ, which a program may handle for its own files, and which ends
// a program whose main function is C's. So the limit is read before each write, because it may
// be changed at any moment, by another process too. The limit does not apply to stores into
// mapped pages.

// Room returns an error that wraps syscall.EFBIG if end bytes exceed the file size limit.
//
//go:noinline
func Room(name string, end int64) error {
	if uint64(end) > largest() {
		return &fs.PathError{Op: "write", Path: name, Err: tooLarge}
	}
	return nil
}

// WriteAt is f.WriteAt after a check by Room. If there is no room for all of b, it writes
// nothing.
func WriteAt(f *os.File, b []byte, off int64) (int, error) {
	if err := Room(f.Name(), off+int64(len(b))); err != nil {
		return 0, err
	}
	return f.WriteAt(b, off)
}

// Truncate is f.Truncate after a check by Room. A file may be shortened whatever the limit is.
func Truncate(f *os.File, size int64) error {
	if err := Room(f.Name(), size); err != nil {
		if st, e := f.Stat(); e != nil || st.Size() < size {
			return err
		}
	}
	return f.Truncate(size)
}
