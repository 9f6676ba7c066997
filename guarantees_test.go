package scopeview_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

var (
	guaranteeHead = regexp.MustCompile(`(?m)^### G(\d+) (\S.*)$`)
	guaranteeWord = regexp.MustCompile(`(?m)^\t(\d+): +"(.+)",$`)
	guaranteeTest = regexp.MustCompile(`\bTestG(\d+)([A-Z]\w*)?\b`)
	guaranteeFunc = regexp.MustCompile(`(?m)^func (TestG\d+\w*)\(`)
)

// TestGuaranteesPage compares docs/guarantees.md with the tests: each guarantee has a
// section, with the name that make fault uses, which has its cost and its exceptions, and
// names its tests or states that it is not given. Each test is named.
func TestGuaranteesPage(t *testing.T) {
	b := filetest.Read(t, "docs/guarantees.md")
	page := string(b)
	exists := guaranteeTests(t)
	report := filetest.Read(t, "internal/testing/faultfs/report/write.go")
	words := map[string]string{}
	for _, m := range guaranteeWord.FindAllStringSubmatch(string(report), -1) {
		words[m[1]] = m[2]
	}
	named := map[string]bool{}
	sections := map[string]bool{}
	heads := guaranteeHead.FindAllStringSubmatchIndex(page, -1)
	for i, h := range heads {
		end := len(page)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		n, title, body := page[h[2]:h[3]], page[h[4]:h[5]], page[h[1]:end]
		if !strings.EqualFold(title, words[n]) {
			t.Errorf("G%s is called %q here and %q by make fault", n, title, words[n])
		}
		if sections[n] {
			t.Errorf("G%s has two sections", n)
		}
		sections[n] = true
		given := false
		for _, m := range guaranteeTest.FindAllStringSubmatch(body, -1) {
			name := m[0]
			if named[name] = true; !exists[name] {
				t.Errorf("G%s names %s, which does not exist", n, name)
			}
			given = given || m[1] == n
		}
		if !given && !strings.Contains(body, "**Not given**") {
			t.Errorf("G%s names no test of its own, and does not say that it is not given", n)
		}
		for _, part := range []string{"- **Test**: ", "- **Cost**: ", "- **Does not hold**: "} {
			if strings.Count(body, part) != 1 {
				t.Errorf("the section of G%s has %q %d times, want once", n, part, strings.Count(body, part))
			}
		}
	}
	if len(words) < 32 {
		t.Errorf("make fault knows %d guarantees", len(words))
	}
	for n := range words {
		if !sections[n] {
			t.Errorf("G%s has no section", n)
		}
	}
	for name := range exists {
		if !named[name] {
			t.Errorf("docs/guarantees.md does not name %s", name)
		}
	}
}

// guaranteeTests returns the tests named after a guarantee, including those of nested
// modules.
func guaranteeTests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, "_test.go"):
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			for _, m := range guaranteeFunc.FindAllStringSubmatch(string(b), -1) {
				all[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
