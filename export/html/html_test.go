package html_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/export/html"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// broken is a writer that fails after left bytes.
type broken struct{ left int }

var errBroken = errors.New("broken")

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errBroken
	}
	return len(p), nil
}

// TestWriteErrors: errors of reading and of writing are returned.
func TestWriteErrors(t *testing.T) {
	dir := t.TempDir()
	good, bad, missing := filepath.Join(dir, "x.scope"), filepath.Join(dir, "y.scope"), filepath.Join(dir, "z.scope")
	tracetest.Write(t, good, "header\nstate closed=1 tick=9000\nchunk blocks\nname 2 \"f1\"\ncalib ticks=1000 mono=1000 wall=1700000000000000000\nstop ticks=9000\nchunk records since=1000\ntask \"f1\" g=7 start=2000 stop=4000\n")
	filetest.Write(t, bad, []byte("no trace"))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		w    io.Writer
		path string
		is   error
		says string
	}{
		{context.Background(), io.Discard, good, nil, ""},
		{context.Background(), io.Discard, missing, fs.ErrNotExist, missing},
		{context.Background(), io.Discard, bad, nil, "not a scopeview trace"},
		{over, io.Discard, good, context.Canceled, ""},
		{context.Background(), &broken{}, good, errBroken, ""},
		{context.Background(), &broken{left: 1 << 16}, good, errBroken, ""},
	} {
		err := html.Write(c.ctx, c.w, c.path)
		if wanted := c.is != nil || c.says != ""; (err != nil) != wanted || c.is != nil && !errors.Is(err, c.is) || wanted && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v %s", filepath.Base(c.path), err, c.is, c.says)
		}
	}
}
