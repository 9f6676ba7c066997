package scopeview_test

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// riddles are phrases that plain English avoids: a reader decodes each before he can check it.
var riddles = []*regexp.Regexp{
	// A program, lock or trace records, reports or shows.
	regexp.MustCompile(`(?i)\b(?:tells?|told|telling)\b`),
	regexp.MustCompile(`\b\w*[a-z](?:Tells?|Told)(?:\b|[A-Z]\w*)|\b[Tt](?:ells?|old)[A-Z]\w*`), // in a name
	// A comment begins with the noun or verb of the thing, not with "NAME is what".
	regexp.MustCompile(`(?://|/\*|(?m:^)#) *(?:[^\s/]+ ){1,3}(?:is|are|was|were)\s+(?:(?://|#) )?(?:what|who|whom|whose|how|where|when|why|which)\b`),
	// Only a person is who.
	regexp.MustCompile(`(?i)\bwhom?\s+(?://\s)?(?:waits?|waited|holds?|held|had|has it|makes?|made|runs?|writes?|reads?|records?|calls?|called|sends?|sent|owns?|ended|let|computes|sleeps|begins?|wakes?|is (?:woken|called|locked|asked))\b`),
	regexp.MustCompile(`(?i)\b(?:goroutine|thread|process|program|function|lock|scope|channel|recorder|owner|writer|caller|callee|waiter|holder)(?:s|es)?,? who\b`),
}

// inScript matches the comments and strings of a script.
var inScript = regexp.MustCompile("//.*|(?s:/\\*.*?\\*/)|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`")

// TestPlainEnglish: the sources, help texts and documents, of nested modules too, have no riddles.
func TestPlainEnglish(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch hidden := p != "." && strings.HasPrefix(d.Name(), "."); {
		case err != nil:
			return err
		case d.IsDir() && (hidden || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !hasWords(p):
			return nil
		}
		found++
		text := read(t, p)
		if strings.HasSuffix(p, "js") { // names in scripts are those of the page's parts
			code := inScript.ReplaceAllFunc(text, func(s []byte) []byte { return bytes.Repeat([]byte{0}, len(s)) })
			for i, c := range code {
				if c != 0 && c != '\n' {
					text[i] = ' '
				}
			}
		}
		for _, r := range riddles {
			for _, m := range r.FindAllIndex(text, -1) {
				t.Errorf("%s:%d: %q", p, 1+bytes.Count(text[:m[1]], []byte("\n")), text[m[0]:m[1]])
			}
		}
		return nil
	})
	if err != nil || found < 1000 {
		t.Errorf("%d files: %v", found, err)
	}
}

// hasWords reports whether the file is a source, a help text or a document.
func hasWords(p string) bool {
	kinds := []string{".go", ".js", ".mjs", ".md", ".s", ".c"}
	return p != "words_test.go" && (slices.Contains(kinds, filepath.Ext(p)) || strings.Contains(p, "/help/"))
}
