package main

import (
	"bytes"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/snapshot"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// storing is a file to be stored.
type storing struct {
	part format.FilePart // common to all parts
	r    io.ReaderAt
	path string            // file to read; "": in memory
	skip []symbols.Stretch // ranges stored as zeros
}

func storedSource(name string, content []byte) *storing {
	return &storing{part: format.FilePart{Kind: format.FileSource, Name: name, Size: int64(len(content))}, r: bytes.NewReader(content)}
}

// openExecutable returns the executable at path, which is opened when it is stored.
func openExecutable(path string) (*storing, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the executable: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the executable: %w", err)
	}
	if st.Size() > format.MaxFile {
		return nil, fmt.Errorf("the executable %s has %s; at most %s can be stored", path, show.Size(st.Size()), show.Size(format.MaxFile))
	}
	x := &storing{part: format.FilePart{Kind: format.FileExecutable, Name: path, Size: st.Size()}, path: path, skip: symbols.DebugInfo(f)}
	if len(path) > format.MaxName {
		x.part.Name = path[len(path)-format.MaxName:]
	}
	return x, nil
}

// storedPart is the number of bytes compressed at once: small enough that incompressible data fits
// into a chunk, and large enough for nearly the best compression.
const storedPart = 32 << 10

// each calls add with the file's parts, for a trace with chunks of that many bytes.
func (x *storing) each(ctx context.Context, chunk int64, add func(payload []byte) error) error {
	if x.path != "" {
		f, err := os.Open(x.path)
		if err != nil {
			return fmt.Errorf("reading the executable: %w", err)
		}
		defer f.Close()
		x.r = f
	}
	const deflated = 64 // incompressible data grows by less
	room := chunk - format.ChunkHeaderSize - format.BlockHeaderSize - format.FilePartHeadSize - int64(len(x.part.Name)) - deflated
	buf := make([]byte, min(storedPart, room))
	var packed bytes.Buffer
	z, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		return err
	}
	p := x.part
	for p.Offset = 0; p.Offset < p.Size || p.Size == 0; p.Offset += int64(p.Length) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), p.Size-p.Offset)]
		if _, err := io.ReadFull(io.NewSectionReader(x.r, p.Offset, int64(len(b))), b); err != nil && len(b) > 0 {
			return fmt.Errorf("reading the executable %s: %w", x.path, err)
		}
		x.blank(b, p.Offset)
		packed.Reset()
		z.Reset(&packed)
		if _, err := z.Write(b); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		p.Length, p.Data = uint32(len(b)), packed.Bytes()
		if err := add(format.AppendFilePart(nil, &p)); err != nil || p.Size == 0 {
			return err
		}
	}
	return nil
}

// blank clears the skipped ranges in b, which is at offset in the file.
func (x *storing) blank(b []byte, offset int64) {
	for _, s := range x.skip {
		from, to := max(s.Offset-offset, 0), min(s.Offset+s.Size-offset, int64(len(b)))
		if from < to {
			clear(b[from:to])
		}
	}
}

// writeStored writes to to the trace at from with the files added, the first of which gets the
// number n. The trace appears at to, or replaces it, only when it is complete. more is the number
// of bytes added.
func writeStored(ctx context.Context, from, to string, chunk int64, n uint32, list []*storing, replaces bool) (more int64, err error) {
	temp := to + "." + strconv.FormatUint(rand.Uint64(), 36) + ".tmp"
	defer os.Remove(temp)
	room := int64(0)
	for _, f := range list {
		room += f.part.Size/2 + chunk
	}
	_, err = copyTrace(ctx, from, temp, snapshot.Options{
		Facts: []snapshot.Fact{{Key: "snapshot_reason", Value: "made by scopeview archive"}},
		Room:  room,
		Blocks: func(add func(format.BlockType, []byte) error) error {
			for i, f := range list {
				f.part.File = n + uint32(i)
				if err := f.each(ctx, chunk, func(p []byte) error {
					more += int64(len(p))
					return add(format.BlockFile, p)
				}); err != nil {
					return err
				}
			}
			return nil
		},
	})
	if err != nil {
		return 0, err
	}
	if err := checkStored(temp, n, len(list)); err != nil {
		return 0, err
	}
	if !replaces {
		return more, renameNew(temp, to)
	}
	return more, replace(temp, to)
}

// checkStored reads the new trace, so that an incomplete one replaces nothing.
func checkStored(path string, n uint32, count int) error {
	t, err := trace.OpenFile(path)
	if err != nil {
		return err
	}
	defer t.Close()
	whole := 0
	for _, f := range t.Files() {
		if !f.Missing {
			whole++
		}
	}
	if whole < count || t.NextFile() != n+uint32(count) {
		return fmt.Errorf("the new trace has only %d of %d files; TRACE was not changed", whole, count)
	}
	return nil
}

// replace gives a file the name and the mode of another one after syncing it, so that a crash
// leaves either file complete.
func replace(temp, path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("replacing the trace: %w", err)
	}
	f, err := newfile.Existing(temp, os.O_RDWR)
	if err != nil {
		return fmt.Errorf("replacing the trace: %w", err)
	}
	_ = f.Chmod(st.Mode().Perm()) // some file systems have no modes
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("replacing the trace: %w; it was not changed", err)
	}
	return nil
}
