package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/klauspost/pgzip"

	"github.com/scopeview/scopeview/scope"
)

// text is n bytes that can be compressed about as well as a log.
func text(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, 1<<20+100)
	for len(b) < 1<<20 {
		b = strconv.AppendInt(append(b, "GET /page/"...), int64(r.ExpFloat64()*1000), 10)
		b = append(b, " 200 text/html from 10.0.0."...)
		b = append(strconv.AppendInt(b, r.Int64N(256), 10), '\n')
	}
	return bytes.Repeat(b[:1<<20], n>>20)
}

func pack(to io.Writer, data []byte) error {
	defer scope.Task("pack", len(data))()
	w := pgzip.NewWriter(to)
	if _, err := w.Write(data); err != nil {
		return err
	}
	return w.Close()
}

func pgzipCompress(string) error { return pack(io.Discard, text(128<<20)) }

func pgzipDecompress(string) error {
	var packed bytes.Buffer
	if err := pack(&packed, text(64<<20)); err != nil {
		return err
	}
	for range 3 {
		if err := unpack(bytes.NewReader(packed.Bytes())); err != nil {
			return err
		}
	}
	return nil
}

func unpack(from io.Reader) error {
	defer scope.Task("unpack")()
	r, err := pgzip.NewReader(from)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}

// pgzipFiles packs files by four workers.
func pgzipFiles(string) error {
	data := text(2 << 20)
	todo := make(chan int)
	go func() {
		defer close(todo)
		for i := range 120 {
			todo <- i
		}
	}()
	return each(4, func(int) error {
		for i := range todo {
			if err := pack(io.Discard, data[:len(data)/2+i*5000]); err != nil {
				return err
			}
		}
		return nil
	})
}
