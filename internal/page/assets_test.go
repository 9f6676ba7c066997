package page

import (
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/export/html/assets"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// modules reads the page's scripts, by their paths below assets.
func modules(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(assets.Files, ".", func(p string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(p) != ".js" {
			return err
		}
		b, err := fs.ReadFile(assets.Files, p)
		all[p] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	declared  = regexp.MustCompile(`(?m)^(export )?(?:async )?(?:function\*?|const|let|var|class) +([^\s(=;]+)`)
	anyImport = regexp.MustCompile(`(?m)^\s*(?:import|export)\b.*`)
	comment   = regexp.MustCompile(`(?s)/\*.*?\*/`)
	dynamic   = regexp.MustCompile(`\bimport\s*\(|\bimport\.meta\b`)
)

// folders are the directories of modules; "." has those that combine the others.
var folders = []string{"data", "model", "view", "panel", "."}

func folder(module string) int { return slices.Index(folders, path.Dir(module)) }

// TestScriptsFitTogether: modules can be concatenated: imports are by name, of names
// exported in the same folder or one before it, and no name is declared twice.
func TestScriptsFitTogether(t *testing.T) {
	all := modules(t)
	exported, owner := map[string]map[string]bool{}, map[string]string{}
	for name, source := range all {
		exported[name] = map[string]bool{}
		for _, m := range declared.FindAllStringSubmatch(source, -1) {
			if other, twice := owner[m[2]]; twice {
				t.Errorf("%s is declared at the top of %s and of %s, which become one script", m[2], other, name)
			}
			if !regexp.MustCompile(`^[\w$]+$`).MatchString(m[2]) {
				t.Errorf("%s: %q: declare top-level names one by one", name, m[0])
			}
			owner[m[2]] = name
			exported[name][m[2]] = m[1] != ""
		}
	}
	for name, source := range all {
		if dynamic.MatchString(comment.ReplaceAllString(source, "")) {
			t.Errorf("%s imports while it runs; there is nothing to import in the page", name)
		}
		for _, line := range anyImport.FindAllString(source, -1) {
			m := importLine.FindStringSubmatch(line + "\n")
			if m == nil {
				if !exportWord.MatchString(line) {
					t.Errorf("%s: %q is neither import { a, b } from \"./x.js\"; nor export function, const or class", name, line)
				}
				continue
			}
			from := imported(name, m[2])
			for what := range strings.SplitSeq(m[1], ",") {
				if what = strings.TrimSpace(what); what != "" && !exported[from][what] {
					t.Errorf("%s imports %s from %s, which does not export it", name, what, from)
				}
			}
			if folder(from) > folder(name) {
				t.Errorf("%s imports %s, but %v may import only from the left", name, from, folders)
			}
		}
		if !slices.Contains(order(), name) {
			t.Errorf("nothing that %s imports, or what that imports, imports %s", entry, name)
		}
	}
	if list := order(); list[len(list)-1] != entry {
		t.Errorf("%s is not the last of %v", entry, list)
	}
}

// TestOrder: each module comes after those it imports, except in import cycles: code that
// runs at load finds what it needs.
func TestOrder(t *testing.T) {
	seen := map[string]bool{}
	var circular []string
	for _, name := range order() {
		for _, m := range importLine.FindAllStringSubmatch(modules(t)[name], -1) {
			if from := imported(name, m[2]); !seen[from] {
				circular = append(circular, name+" -> "+from)
			}
		}
		seen[name] = true
	}
	if len(circular) > 0 {
		t.Errorf("modules import in a circle: %v", circular)
	}
}

// forbiddenInScripts matches code that could turn data into markup or code.
var forbiddenInScripts = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|parseFromString|setHTML|srcdoc|\beval\b|new Function|Function\(|javascript:|<script|</|<!--|importScripts|setTimeout\s*\(\s*["'` + "`" + `]|\.setAttribute\(\s*["']on`)

func TestG26Assets(t *testing.T) {
	for name, source := range modules(t) {
		for i, line := range strings.Split(source, "\n") {
			if m := forbiddenInScripts.FindString(line); m != "" {
				t.Errorf("assets/%s:%d: %s", name, i+1, m)
			}
		}
	}
	style, err := styles()
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`</|<!--|@import|url\((?:["']?)(?:https?:|//)`).FindString(style); m != "" {
		t.Errorf("a style sheet has %s", m)
	}
	skeleton, err := fs.ReadFile(assets.Files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?i)<script|<style|\sstyle=|\son\w+=|https?:|<link|<iframe|<img`).Find(skeleton); m != nil {
		t.Errorf("assets/index.html has %s, which the policy forbids", m)
	}
	t.Logf("G26: %d scripts and a style sheet of %d bytes make no markup of data", len(modules(t)), len(style))
}

// TestScriptParses: the whole script is valid.
func TestScriptParses(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	source, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.mjs")
	filetest.Write(t, file, []byte(source))
	if out, err := exec.Command(node, "--check", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
