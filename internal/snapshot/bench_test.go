package snapshot

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// BenchmarkCreate copies 256 MiB from the page cache.
func BenchmarkCreate(b *testing.B) {
	dir := b.TempDir()
	src := filepath.Join(dir, "src.scope")
	filetest.Write(b, src, tracetest.Bulk(256<<20/format.ChunkSize, false))
	f, err := os.OpenFile(src, os.O_RDWR, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // or the benchmark measures the disk, which still writes this
		b.Fatal(err)
	}
	b.SetBytes(256 << 20)
	b.ReportAllocs()
	for b.Loop() {
		path := filepath.Join(dir, "dst.scope")
		if _, err := Create(path, f, Options{}); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
