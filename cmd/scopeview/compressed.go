package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/scopeview/scopeview/internal/format"
)

// The first bytes of compressed data. File names and HTTP headers are ignored.
var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	skipMagic = []byte{0x2a, 0x4d, 0x18} // behind a byte from 0x50 to 0x5f: a frame that zstd skips
	gzipMagic = []byte{0x1f, 0x8b}
)

func isZstd(head []byte) bool {
	return bytes.HasPrefix(head, zstdMagic) || len(head) >= 4 && head[0]&0xf0 == 0x50 && bytes.HasPrefix(head[1:], skipMagic)
}

// Limits of reading: layers of compression, and the memory that zstd itself lets a file require
// (--long=27).
const (
	maxLayers  = 3
	zstdWindow = 128 << 20
)

// contents is a stream after decompression.
type contents struct {
	*bufio.Reader
	layers int // number of layers that were removed
	close  []func()
}

// Close releases the decompressors.
func (c *contents) Close() {
	for _, f := range c.close {
		f()
	}
}

// unpacked returns the contents of a stream, decompressed if necessary. A profile compressed by
// gzip stays as it is, because that is its format.
func unpacked(r io.Reader) (*contents, error) {
	c := &contents{Reader: bufio.NewReaderSize(r, 256<<10)}
	for ; ; c.layers++ {
		head, _ := c.Peek(len(zstdMagic)) // reading reports an error
		var in io.Reader
		switch {
		case isZstd(head):
			z, err := zstd.NewReader(c.Reader, zstd.WithDecoderMaxWindow(zstdWindow))
			if err != nil {
				return nil, err
			}
			c.close = append(c.close, z.Close)
			in = &layerReader{"zstd", z}
		case bytes.HasPrefix(head, gzipMagic):
			inside, err := c.inside()
			if err == nil && !isTrace(inside) && !isZstd(inside) && !bytes.HasPrefix(inside, gzipMagic) {
				return c, nil
			}
			var z *gzip.Reader
			if err == nil {
				z, err = gzip.NewReader(c.Reader)
			}
			if err != nil {
				c.Close()
				return nil, brokenLayer("gzip", err)
			}
			in = &layerReader{"gzip", z}
		default:
			return c, nil
		}
		if c.layers == maxLayers {
			c.Close()
			return nil, fmt.Errorf("it has more than %d layers of compression", maxLayers)
		}
		c.Reader = bufio.NewReaderSize(in, 256<<10)
	}
}

// inside returns the first bytes of gzip's contents. It consumes nothing.
func (c *contents) inside() ([]byte, error) {
	head, _ := c.Peek(4096)
	z, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil, err
	}
	b := make([]byte, len(format.Magic))
	n, err := io.ReadFull(z, b)
	if n == 0 && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
}

// layerReader adds the name of the compression to errors.
type layerReader struct {
	name string
	r    io.Reader
}

func (l *layerReader) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	return n, brokenLayer(l.name, err)
}

// brokenLayer describes an error in compressed data, unless it is the end of the data or a read
// error.
func brokenLayer(name string, err error) error {
	var failed *sourceError
	switch {
	case err == nil || err == io.EOF || errors.As(err, &failed):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the %s data are broken (%w)", name, err)
}

// compressedFile reports whether the file at path must be decompressed before reading. Compressed
// profiles need not be: their readers decompress them.
func compressedFile(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [4]byte
	n, _ := io.ReadFull(f, head[:])
	switch {
	case isZstd(head[:n]):
		return true
	case !bytes.HasPrefix(head[:n], gzipMagic):
		return false
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false
	}
	c, err := unpacked(f)
	if err != nil {
		return false
	}
	defer c.Close()
	inside, _ := c.Peek(len(format.Magic))
	return c.layers > 0 && readable(inside)
}
