package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode"

	"github.com/scopeview/scopeview/internal/show"
)

// FuzzTerminal: output shown or passed on never controls a terminal, whatever the sizes of the
// writes.
func FuzzTerminal(f *testing.F) {
	f.Add("a\x1b[2Jb\nc\r\x00\xff\u202e世", 3)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		var b bytes.Buffer
		w := &caretWriter{w: &b}
		for p := []byte(s); len(p) > 0; {
			n := min(max(cut, 1), len(p))
			w.Write(p[:n])
			p = p[n:]
		}
		for _, out := range []string{show.Name(s), strings.NewReplacer("\n", "", "\t", "").Replace(show.Text(s)), strings.ReplaceAll(b.String(), "\n", "")} {
			for _, r := range out {
				if unicode.In(r, unicode.Cc, unicode.Cf) {
					t.Fatalf("%q became %q", s, out)
				}
			}
		}
		if strings.Count(b.String(), "\n") != strings.Count(s, "\n") {
			t.Fatalf("%q became %q", s, b.String())
		}
	})
}

func TestCaretWriter(t *testing.T) {
	var b bytes.Buffer
	w := &caretWriter{w: &b}
	for _, part := range []string{"a\x1b[0m,", "\xe4", "\xb8\x96\r\n", "\x7f\xff!"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := b.String(), "a^[[0m,世^M\n^?\ufffd!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
