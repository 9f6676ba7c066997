package newfile

import (
	"io/fs"
	"os"
)

// A write, or a growth, beyond the limit of files (RLIMIT_FSIZE, ulimit -f) is not only an
// error: the kernel sends SIGXFSZ, which a program may have asked for to see its own, and which
// ends one whose main function is C's. So the limit is read before each: it may be set or
// lowered at any moment, by another process too. A store into a page that is mapped knows no
// limit.

// Room returns an error, which wraps syscall.EFBIG, if files may not have end bytes.
//
//go:noinline
func Room(name string, end int64) error {
	if uint64(end) > largest() {
		return &fs.PathError{Op: "write", Path: name, Err: tooLarge}
	}
	return nil
}

// WriteAt is f.WriteAt of what there is Room for. It writes all or nothing of what has none.
func WriteAt(f *os.File, b []byte, off int64) (int, error) {
	if err := Room(f.Name(), off+int64(len(b))); err != nil {
		return 0, err
	}
	return f.WriteAt(b, off)
}

// Truncate is f.Truncate. A file that is longer may become shorter, whatever the limit is.
func Truncate(f *os.File, size int64) error {
	if err := Room(f.Name(), size); err != nil {
		if st, e := f.Stat(); e != nil || st.Size() < size {
			return err
		}
	}
	return f.Truncate(size)
}
