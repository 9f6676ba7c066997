package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG27: no command lets a trace's bytes, or its file's name, drive a terminal. Text for people
// is also escaped in a pipe, which may end at a terminal.
func TestG27(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	data := tracetest.Hostile(t)
	damaged := append([]byte(nil), data[:len(data)-5000]...)
	for at := 70_000; at < len(damaged); at += 997 { // break rules in all parts
		damaged[at] ^= 0xa5
	}
	t.Chdir(t.TempDir())
	file, broken := "plain.scope", "broken.scope"
	if runtime.GOOS != "windows" {
		file, broken = "\x1b]52;c;cm0=\x07\u202e\u009b2J\r\n.scope", "\x1b[2J\u2066\x7f.scope"
	}
	for name, b := range map[string][]byte{file: data, broken: damaged} {
		filetest.Write(t, name, b)
	}
	tables := []string{"info", "top", "top --by track", "waits", "waits --stacks", "tail --from 0", "stacks", "stacks --skip 1", "dump", "verify", "snapshot", "anonymize -o out", "profile", "profile --by line", "profile --by object", "profile --by goroutine", "profile --by thread", "profile --by sample", "profile --by metric", "profile --by tree --least 0", "profile --scope * --slowest 1%", "compare " + file, "compare --view waits " + broken}
	documents := []string{"info --json", "top --json", "stacks --json", "stacks --format folded", "verify --json", "profile --json", "profile --by sample --json", "profile --by line --format csv", "profile --by tree --format csv", "export pprof --folded calls", "export csv", "export csv --raw", "export chrome", "export otlp --name *"}
	wrong := []string{"info --from \x1b[2J", "top --by \u009b2J", "ctl off", "profile -m \x1b[2J", "profile --state \x1b[2J", "profile --slowest \x1b[2J", "export csv -o no/\x1b[2J", "\x1b[2J", "vet --\x1b[2J", "compare --fail-on none.total+1% " + file, "compare --fail-on \x1b[2J.total+1% " + file, "compare --fail-on *.\x1b[2J+1% " + file}
	calls, printed := 0, 0
	for _, args := range append(append(tables, documents...), wrong...) {
		for _, terminal := range []bool{true, false} {
			for _, path := range []string{file, broken, "none\x1b[2J\x9b\u202e.scope"} {
				if made, _ := filepath.Glob("*-snapshot-*"); len(made) > 0 {
					os.Remove(made[0])
				}
				words := strings.Split(args, " ")
				r := scopeviewOn(context.Background(), terminal, append(words, path)...)
				calls, printed = calls+1, printed+len(r.out)+len(r.err)
				if r.out+r.err == "" && words[0] != "anonymize" && words[0] != "verify" {
					t.Errorf("%q %q prints nothing", args, path)
				}
				for _, out := range []struct {
					text  string
					exact bool // byte for byte in a pipe
				}{{r.out, !terminal && (words[0] == "snapshot" || slices.Contains(documents, args))}, {r.err, false}} {
					if out.exact {
						continue
					}
					text := colours.ReplaceAllString(out.text, "")
					if !terminal {
						text = out.text
					}
					for at, c := range text {
						if c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf) {
							t.Errorf("%q %q, on a terminal %v, prints %U: %q", args, path, terminal, c, text[max(0, at-40):min(len(text), at+20)])
							break
						}
					}
				}
			}
		}
	}
	t.Logf("G27: %d calls of %d commands with %d hostile names printed %d bytes, no control character but line ends, tabs and our colours", calls, len(tables)+len(documents), len(tracetest.HostileNames()), printed)
}
