package main

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// sparseSize is the apparent size of the sparse trace.
const sparseSize = 300 << 30

// sparseTrace writes a trace of some chunks with a hole before the last of them, and another one
// behind it.
func sparseTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.scope")
	const last = sparseSize / 2
	data := tracetest.Bulk(2, true)
	binary.LittleEndian.PutUint64(data[format.StateOffset+format.StateEnd:], last+format.ChunkSize)
	filetest.Write(t, path, data)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := make([]byte, format.ChunkHeaderSize)
	format.PutChunkHeader(b, &format.ChunkHeader{Kind: format.ChunkBlocks, Index: last / format.ChunkSize, Since: 1, Gen: 1})
	if _, err := f.WriteAt(b, last); err != nil {
		t.Skip("files can't be that large here: ", err)
	}
	if err := f.Truncate(sparseSize); err != nil {
		t.Skip("files can't be that large here: ", err)
	}
	return path
}

// TestSparse runs every command that takes a trace on one of 300 GiB that consists almost only of
// holes. Commands that read the whole file skip holes at no cost; and a cancelled one ends at once.
func TestSparse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes are not known here")
	}
	path := sparseTrace(t)
	looked := 0
	for _, c := range leafCommands(newRoot(&streams{})) {
		if !strings.Contains(c.Use, "TRACE") {
			continue
		}
		looked++
		args := append(strings.Fields(c.CommandPath())[1:], path)
		if c.Flags().Lookup("output") != nil {
			args = append(args, "-o", filepath.Join(t.TempDir(), "out.scope"))
		}
		patience := 100 * time.Millisecond
		switch c.Name() {
		case "verify", "dump", "info":
			patience = 3 * time.Second // it takes some 20 ms
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan result, 1)
		go func() { done <- scopeviewOn(ctx, false, args...) }()
		begin := time.Now()
		select {
		case <-done:
			t.Logf("%s ended by itself after %v", c.Name(), time.Since(begin))
			cancel()
			continue
		case <-time.After(patience):
		}
		if patience > time.Second {
			t.Errorf("%s reads the holes", c.Name())
		}
		cancel()
		begin = time.Now()
		select {
		case <-done:
			t.Logf("%s ended %v after it was cancelled", c.Name(), time.Since(begin))
		case <-time.After(5 * time.Second): // for a loaded machine; it takes 0.1 s at most
			t.Errorf("%s does not end when it is cancelled", c.Name())
		}
	}
	if looked < 15 {
		t.Errorf("only %d commands take a trace", looked)
	}
}
