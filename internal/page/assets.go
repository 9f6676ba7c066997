package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/export/html/assets"
)

// entry is the script that starts the page.
const entry = "main.js"

var (
	importLine = regexp.MustCompile(`(?m)^import (?:\{([^}]*)\} from )?"(\.{1,2}/[^"]+)";\n`)
	exportWord = regexp.MustCompile(`(?m)^export (function|const|class|async function)\b`)
)

// page has the parts that the pages of all traces share.
type page struct {
	head, body    []byte // index.html before and after the data, with everything inserted except the policy
	style, script string // hashes for the policy
}

// parts builds the page, once.
var parts = sync.OnceValues(func() (*page, error) {
	skeleton, err := fs.ReadFile(assets.Files, "index.html")
	if err != nil {
		return nil, err
	}
	style, err := styles()
	if err != nil {
		return nil, err
	}
	script, err := scripts()
	if err != nil {
		return nil, err
	}
	p := &page{style: hash(style), script: hash(script)}
	text := string(skeleton)
	for _, x := range []struct{ mark, with string }{
		{"<!--style-->", "<style>" + style + "</style>"},
		{"<!--script-->", `<script type="module">` + script + "</script>"},
	} {
		if strings.Count(text, x.mark) != 1 {
			return nil, fmt.Errorf("assets/index.html has %s not once", x.mark)
		}
		text = strings.Replace(text, x.mark, x.with, 1)
	}
	head, body, ok := strings.Cut(text, "<!--data-->")
	if !ok || strings.Count(head, policyMark) != 1 {
		return nil, fmt.Errorf("assets/index.html lacks <!--data-->, or %s before it", policyMark)
	}
	p.head, p.body = []byte(head), []byte(body)
	return p, nil
})

// hash returns a source's hash for a content security policy.
func hash(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// styles returns the concatenated style sheets: the general one first.
func styles() (string, error) {
	list, err := fs.Glob(assets.Files, "*.css")
	if err != nil {
		return "", err
	}
	slices.SortFunc(list, func(a, b string) int {
		general := func(p string) int {
			if path.Base(p) == "style.css" {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(general(a), general(b)), cmp.Compare(a, b))
	})
	var all strings.Builder
	for _, p := range list {
		b, err := fs.ReadFile(assets.Files, p)
		if err != nil {
			return "", err
		}
		all.WriteString("\n")
		all.Write(b)
	}
	return all.String(), nil
}

// scripts returns all modules as one script.
func scripts() (string, error) {
	var all strings.Builder
	for _, name := range order() {
		source, err := fs.ReadFile(assets.Files, name)
		if err != nil {
			return "", fmt.Errorf("the page's script: %w", err)
		}
		fmt.Fprintf(&all, "\n// %s\n%s", name, strung(string(source)))
	}
	return all.String(), nil
}

// Script returns a module of the page with what it imports removed, and then source, which imports it, as
// one script.
func Script(name, source string) (string, error) {
	module, err := fs.ReadFile(assets.Files, name)
	return strung(string(module)) + strung(source), err
}

// strung removes the imports and exports from a module.
func strung(source string) string {
	return exportWord.ReplaceAllString(importLine.ReplaceAllString(source, ""), "$1")
}

// imported returns the path below assets of an imported module.
func imported(module, specifier string) string { return path.Join(path.Dir(module), specifier) }

// order returns the modules in the order in which a browser would run them: imported modules
// first.
func order() []string {
	var list []string
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		source, _ := fs.ReadFile(assets.Files, name) // scripts reports missing files
		for _, m := range importLine.FindAllStringSubmatch(string(source), -1) {
			visit(imported(name, m[2]))
		}
		list = append(list, name)
	}
	visit(entry)
	return list
}
