package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                       nil,
		"one":                    {"one"},
		"readFileOrDie":          {"read", "File", "Or", "Die"},
		"// Two words, HTTPonly": {"Two", "words", "HTTPonly"},
		"naïve_世界9x":             {"naïve", "世界", "x"},
	} {
		var got []string
		words(text, func(w string) { got = append(got, w) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for word, want := range map[string]string{"Readers": "read", "ring": "ring", "Strings": "str", "is": "is", "ÄPFEL": "äpfel", "does": "doe"} {
		if got := stemOf(word); got != want {
			t.Errorf("the stem of %s is %s, want %s", word, got, want)
		}
	}
}

// TestLookups: a word is missed once, and a hit from then on.
func TestLookups(t *testing.T) {
	dir := t.TempDir()
	src := "package reader\n// reader reads\nvar reader = \"reader\"\n"
	filetest.Write(t, filepath.Join(dir, "x.go"), []byte(src))
	all, err := record("", dir, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := [sources]count{identifiers: {1, 1}, comments: {1, 1}, texts: {1, 0}}
	if all.counts != want || all.files != 1 || all.stems["read"] != 5 || len(all.stems) != 1 {
		t.Errorf("counts %v, %v, want %v", all.counts, all.stems, want)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-h", 0, "-workers"},
		{"-workers 0", 2, "at least 1"},
		{"more", 2, "flags only"},
		{"-dir nowhere", 1, "can't be listed"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(c.args), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("lookups %s: exit code %d, %q; want %d and %q", c.args, code, &errs, c.code, c.says)
		}
	}
	var out, errs bytes.Buffer
	if code := run([]string{"-dir", ".", "-limit-files", "1"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "1 files") || !strings.Contains(out.String(), "identifiers") {
		t.Errorf("exit code %d, %s%s", code, &out, &errs)
	}
}
