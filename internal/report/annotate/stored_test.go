package annotate

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// part is the line of a file block, of so many bytes b.
func part(name string, file, size, offset, length int, b byte) string {
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, 9)
	_, _ = z.Write(bytes.Repeat([]byte{b}, length))
	_ = z.Close()
	return fmt.Sprintf("file source %q file=%d size=%d offset=%d length=%d %s\n", name, file, size, offset, length, hex.EncodeToString(packed.Bytes()))
}

// TestStoredSources: of several sources with one name, the first complete one is used; sources of a
// stranger's trace that are too large, or have a million lines, are refused.
func TestStoredSources(t *testing.T) {
	var lines strings.Builder
	lines.WriteString("header path=go\nstate closed=1 tick=9000\nchunk blocks sealed\n")
	lines.WriteString(part("x.go", 1, 9, 0, 5, 'a') + part("x.go", 2, 3, 0, 3, 'b') + part("x.go", 3, 4, 0, 4, 'c'))
	lines.WriteString(part("large.go", 4, 16<<20+1, 0, 3, 'd'))
	const all = 1<<20 + 1
	for at := 0; at < all; at += format.MaxFilePart {
		lines.WriteString(part("lines.go", 5, all, at, min(format.MaxFilePart, all-at), '\n'))
	}
	lines.WriteString(part("empty.go", 6, 0, 0, 0, 0) + "stop ticks=9000\n")
	c := &Code{}
	c.UseStored(tracetest.OpenText(t, lines.String()))
	for file, want := range map[string]string{
		"x.go": "bbb", "empty.go": "",
		"large.go": "reading the source large.go from the trace: it has 16777217 bytes, and at most 16777216 are read; --path-map",
		"lines.go": "it has 1048577 lines, and at most 1048576 are read",
	} {
		b, err := c.Sources.Stored(file)
		if err == nil && (b == nil || string(b) != want) || err != nil && !strings.Contains(err.Error(), want) || err != nil && want == "" {
			t.Errorf("%s: %q, %v", file, b, err)
		}
	}
	if b, err := c.Sources.Stored("none.go"); b != nil || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}
