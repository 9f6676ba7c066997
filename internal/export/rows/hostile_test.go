package rows_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG27: whatever the names are, the files are JSON and protobuf, and draw what the CSV
// lists.
func TestG27(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Hostile(t))
	want := listed(t, tr)
	var json, proto bytes.Buffer
	if _, err := chrome.Write(context.Background(), &json, tr, rows.Options{}); err != nil {
		t.Fatal(err)
	}
	check(t, readChrome(t, json.Bytes()), want)
	if _, err := perfetto.Write(context.Background(), &proto, tr, rows.Options{}); err != nil {
		t.Fatal(err)
	}
	check(t, readPerfetto(t, proto.Bytes(), tr.End()), want)
	for _, c := range json.Bytes() {
		if c < ' ' && c != '\n' || c == 0x7f {
			t.Fatalf("the JSON has the character %#x", c)
		}
	}
	t.Logf("G27: %d hostile names as %d scopes: %d bytes of JSON and %d of protobuf that say the same", len(tracetest.HostileNames()), len(want.slices), json.Len(), proto.Len())
}
