package pack

import (
	"context"
	"io"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/inorder"
)

// Copy writes a whole trace of size bytes to w, unpacking on all processors. next returns the
// offset of the next bytes that may be other than zero. If w can seek, the ranges between become
// holes; the last byte is written, so that the file has its full size.
func Copy(ctx context.Context, w io.Writer, r io.ReaderAt, size int64, next func(off int64) int64, progress func(done, of int64)) (err error) {
	type window struct {
		b   []byte
		err error
	}
	s, _ := w.(io.Seeker)
	at := int64(0) // offset of w
	inorder.Each(int((size+groupBytes-1)/groupBytes), func(i int, x *window) {
		off := int64(i) * groupBytes
		n := min(groupBytes, size-off)
		if x.err = ctx.Err(); x.err != nil || s != nil && next(off) >= off+n && off+n < size {
			x.b = x.b[:0]
			return
		}
		_, x.err = chunks.ReadFull(r, grow(&x.b, int(n)), off)
	}, func(i int, x *window) bool {
		off := int64(i) * groupBytes
		if err = x.err; err != nil || len(x.b) == 0 {
			return err == nil
		}
		if at < off {
			if at, err = s.Seek(off-at, io.SeekCurrent); err != nil {
				return false
			}
		}
		n := 0
		n, err = w.Write(x.b)
		at += int64(n)
		if progress != nil {
			progress(at, size)
		}
		return err == nil
	})
	return err
}
