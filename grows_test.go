package scopeview_test

import (
	"go/ast"
	"slices"
	"testing"
)

// grown are calls that write a file or extend it.
var grown = []string{"Write", "WriteString", "WriteAt", "Truncate", "Ftruncate", "Fallocate", "Pwrite", "Pwritev"}

// growsItself are the files of the recorder with such calls that do not need newfile, with
// the reasons.
var growsItself = map[string]string{
	"internal/newfile/limit.go":     "it reads the limit",
	"internal/format/control.go":    "both sides of a request check for room before",
	"internal/pool/file_linux.go":   "it asks for room before it grows the file; else it keeps the file's size",
	"internal/pool/shm_linux.go":    "it asks for room, but for what is in the hot file already, whose size it keeps",
	"internal/pool/mapped_linux.go": "it asks for room, for a file without pages",
	"internal/testpoint/on.go":      "a pipe of a test",
	"scope/scopehttp/page.go":       "a response",
	"scope/scopehttp/response.go":   "a response",
	"scope/scopehttp/status.go":     "a response",
}

// TestG42Source: code that runs inside a program writes files by internal/newfile, which
// checks the file size limit first: otherwise the program would get a signal.
func TestG42Source(t *testing.T) {
	looked, used, all := 0, map[string]bool{}, sources(t)
	inside := recorder(all)
	for _, s := range all {
		if !inside[s.pkg] {
			continue
		}
		looked++
		ast.Inspect(s.file, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := c.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(grown, f.Sel.Name) {
				return true
			}
			of, _ := f.X.(*ast.Ident)
			size, _ := c.Args[len(c.Args)-1].(*ast.BasicLit)
			switch p := fset.Position(n.Pos()); {
			case of != nil && of.Name == "newfile":
			case f.Sel.Name == "Truncate" && size != nil && size.Value == "0":
			case f.Sel.Name == "WriteString" && of != nil && of.Name == "b": // a strings.Builder
			case growsItself[p.Filename] != "":
				used[p.Filename] = true
			default:
				t.Errorf("%s: %s: files are written by internal/newfile, which reads the limit of their size", p, f.Sel.Name)
			}
			return true
		})
	}
	for p := range growsItself {
		if !used[p] {
			t.Errorf("%s writes nothing: it needs no line above", p)
		}
	}
	t.Logf("G42: %d files of the recorder write files in one place, which reads the limit of their size", looked)
}
