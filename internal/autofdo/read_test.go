package autofdo

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	noLine = "Expected 'NUM[.NUM]: NUM[ mangled_name:NUM]*', found "
	noHead = "Expected 'mangled_name:NUM:NUM', found "
	noText = "Unrecognized sample profile encoding format"
)

// accepted has profiles that LLVM reads, with the result in Clang and, if that is not what it looks
// like, a part of the warning.
var accepted = []struct{ name, in, want, warning string }{
	{"simple", "main.main:500:10\n 1: 500\n", "main.main:500:10\n 1: 500\n", ""},
	{"targets", "main.main:500:10\n 2.3: 500 main.f:3 main.(*T).M:7\n", "main.main:500:10\n 2.3: 500 main.(*T).M:7 main.f:3\n", ""},
	{"generic name", "main.(*T).M[go.shape.struct { A int; B string }]:3:0\n 1: 3 type:.eq.main.T:2 main.(*T).M[go.shape.struct { A int; B string }]:1\n", "main.(*T).M[go.shape.struct { A int; B string }]:3:0\n 1: 3 type:.eq.main.T:2 main.(*T).M[go.shape.struct { A int; B string }]:1\n", ""},
	{"colons in a header", "type:.eq.main.T:5:1\n 1: 5\n", "type:.eq.main.T:5:1\n 1: 5\n", ""},
	{"two blanks between targets", "f:5:1\n 1: 5 a:3  b:2\n", "f:5:1\n 1: 5 a:3 b:2\n", ""},
	{"blank lines and comments", "\n# of today\nf:5:1\n\n  # a comment\n 1: 5\n\n", "f:5:1\n 1: 5\n", ""},
	{"CRLF", "f:5:1\r\n 1: 5 a:3\r\n", "f:5:1\n 1: 5 a:3\n", ""},
	{"no newline at the end", "f:5:1\n 1: 5", "f:5:1\n 1: 5\n", "may be truncated"},
	{"function twice", "f:5:1\n 1: 5\nf:7:2\n 2: 7\n", "f:7:2\n 2: 7\n", "Clang discards"},
	{"line twice", "f:8:1\n 1: 5 a:2\n 1: 3 a:1 b:3\n", "f:8:1\n 1: 8 a:3 b:3\n", ""},
	{"target twice", "f:5:1\n 1: 5 a:2 a:3\n", "f:5:1\n 1: 5 a:3\n", "is repeated"},
	{"wrong total", "f:6:1\n 1: 5\n", "f:6:1\n 1: 5\n", "its lines add up to 5"},
	{"wrong total of an inlinee", "f:500:1\n 2: g:500\n  1: 400\n", "f:500:1\n 2: g:500\n  1: 400\n", "the total of g is 500"},
	{"inlined", "f:500:1\n 2: g:500\n  1: 400\n  7: h:100\n   1.2: 100\n", "f:500:1\n 2: g:500\n  1: 400\n  7: h:100\n   1.2: 100\n", ""},
	{"checksum", "f:5:1\n 1: 5\n !CFGChecksum: 123\n !Attributes: 1\n", "f:5:1\n 1: 5\n !CFGChecksum: 123\n !Attributes: 1\n", ""},
	{"checksum of one", "f:6:1\n 1: 3\n 2: g:3\n  1: 3\n !CFGChecksum:5\nh:0:0\n", "f:6:1\n 1: 3\n 2: g:3\n  1: 3\n  !CFGChecksum: 0\n !CFGChecksum: 5\nh:0:0\n !CFGChecksum: 0\n", ""},
	{"attributes before the checksum", "f:3:1\n 1: 3\n !Attributes: 1\n !CFGChecksum: 5\n", "f:3:1\n 1: 3\n !CFGChecksum: 5\n", "Clang discards the attributes"},
	{"contexts", "[main.main:3 @ main.f]:1:1\n 1: 1\n[main.main]:7:1\n 2: 7\n", "[main.main]:7:1\n 2: 7\n[main.main:3 @ main.f]:1:1\n 1: 1\n", ""},
	{"contexts without a line", "[a @ f]:9:1\n 1: 9\n[a: @ f:2 @ g]:8:1\n 1: 8\n", "[a:0 @ f]:9:1\n 1: 9\n[a:0 @ f:2 @ g]:8:1\n 1: 8\n", "Clang reads it as [a:0 @ f]"},
	{"one context with line 0 and without a line", "[a:0 @ f]:9:1\n 1: 9\n[a @ f]:8:1\n 1: 8\n", "[a:0 @ f]:8:1\n 1: 8\n", "Clang reads it as [a:0 @ f]"},
	{"contexts of the same weight", "[a:30 @ f]:1:1\n 1: 1\n[a:4 @ f]:1:1\n 1: 1\n[a:4 @ f:2 @ g]:1:1\n 1: 1\n[a]:1:1\n 1: 1\n", "[a]:1:1\n 1: 1\n[a:4 @ f]:1:1\n 1: 1\n[a:4 @ f:2 @ g]:1:1\n 1: 1\n[a:30 @ f]:1:1\n 1: 1\n", ""},
	{"order", "b:1:1\n 9: 1\n 2: 0 x:1 z:2 y:1\na:1:1\n 1.2: 1\n 1: 0\nc:5:0\n 1: 5\n", "c:5:0\n 1: 5\na:1:1\n 1: 0\n 1.2: 1\nb:1:1\n 2: 0 z:2 x:1 y:1\n 9: 1\n", ""},
	{"largest count", "f:18446744073709551615:0\n 1: 18446744073709551615\n", "f:18446744073709551615:0\n 1: 18446744073709551615\n", ""},
	{"large count in a name", "f:3:0\n 1: 3 a:18446744073709551616 b:3\n", "f:3:0\n 1: 3 a:18446744073709551616 b:3\n", ""},
	{"zeros before numbers", "f:7:0\n 00001: 007\n", "f:7:0\n 1: 7\n", ""},
	{"large offset with a discriminator", "f:5:1\n 70000.1: 5\n", "f:5:1\n 70000.1: 5\n", "Clang uses none above 65535"},
	{"indented too far", "f:5:1\n    1: 3\n   2: g:2\n  3: 2\n", "f:5:1\n 1: 3\n 2: g:2\n  3: 2\n", "4 blanks where at most 1"},
	{"blank before an inlined name", "f:3:1\n 1:  g:3\n  1: 3\n", "f:3:1\n 1:  g:3\n  1: 3\n", "begins with a blank"},
	{"no name", ":0:5\n", ":0:5\n", `named ""`},
	{"no colons", "0\n", "0:0:0\n", `named "0"`},
	{"one colon", "0:5\n", "0:5:0:5\n", `named "0:5"`},
	{"only a number after a colon", ":0\n", ":0:0\n", `named ""`},
	{"byte order mark", "\ufefff:5:1\n 1: 5\n", "\ufefff:5:1\n 1: 5\n", "named \"\\ufefff\""},
	{"NUL", "f:2:1\n 1: 2\x00 3\n 2: 2\ng:1:1\n", "f:2:1\n 1: 2\n", "stops reading there"},
}

func TestAcceptsWhatLLVMAccepts(t *testing.T) {
	for _, c := range accepted {
		t.Run(c.name, func(t *testing.T) {
			p, warnings, err := Read(strings.NewReader(c.in), "FILE", false)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, p); got != c.want {
				t.Errorf("read and written:\n%s\nwant:\n%s", got, c.want)
			}
			if c.warning == "" && len(warnings) > 0 {
				t.Errorf("warnings: %v", warnings)
			}
			if c.warning != "" && (len(warnings) == 0 || !strings.Contains(warnings[0].Text, c.warning) || warnings[0].Line == 0) {
				t.Errorf("warnings %v; want one with a line of %q", warnings, c.warning)
			}
			if out, ok := canonical(t, c.in); !ok || out != c.want {
				t.Errorf("llvm-profdata (%v):\n%s\nwant:\n%s", ok, out, c.want)
			}
		})
	}
}

// rejected has files that LLVM refuses, with its message.
var rejected = []struct{ name, in, want string }{
	{"two blanks behind the colon", "f:5:1\n 1:  500\n", "FILE:2: " + noLine + " 1:  500"},
	{"blank before the colon", "f:5:1\n 1 : 500\n", "FILE:2: " + noLine + " 1 : 500"},
	{"blank at the end", "f:5:1\n 1: 500 \n", "FILE:2: " + noLine + " 1: 500 "},
	{"blank behind the targets", "f:5:1\n 1: 500 a:3 \n", "FILE:2: " + noLine + " 1: 500 a:3 "},
	{"negative offset", "f:5:1\n -1: 500\n", "FILE:2: " + noLine + " -1: 500"},
	{"large offset", "f:5:1\n 70000: 500\n", "FILE:2: " + noLine + " 70000: 500"},
	{"offset beyond 32 bits", "f:5:1\n 4294967296.1: 5\n", "FILE:2: " + noLine + " 4294967296.1: 5"},
	{"discriminator beyond 32 bits", "f:5:1\n 1.4294967296: 5\n", "FILE:2: " + noLine + " 1.4294967296: 5"},
	{"no blank before a line", "f:5:1\n1: 500\n", "FILE:2: " + noHead + "1: 500"},
	{"tab before a line", "f:5:1\n\t1: 500\n", "FILE:2: " + noHead + "\t1: 500"},
	{"tab at the end", "f:5:1\n 1: 5\t\n", "FILE:2: " + noLine + " 1: 5\t"},
	{"blanks only", "f:5:1\n  \n 1: 5\n", "FILE:2: " + noLine + "  "},
	{"count beyond 64 bits", "f:5:1\n 1: 18446744073709551616\n", "FILE:2: " + noLine + " 1: 18446744073709551616"},
	{"target's count beyond 64 bits", "f:5:1\n 1: 3 a:18446744073709551616\n", "FILE:2: " + noLine + " 1: 3 a:18446744073709551616"},
	{"negative count", "f:5:1\n 1: -5\n", "FILE:2: " + noLine + " 1: -5"},
	{"target without a count", "f:5:1\n 1: 5 a\n", "FILE:2: " + noLine + " 1: 5 a"},
	{"target without a name", "f:5:1\n 1: 5 :3\n", "FILE:2: " + noLine + " 1: 5 :3"},
	{"inlined name that begins with a digit", "f:5:1\n 1: 5foo:3\n", "FILE:2: " + noLine + " 1: 5foo:3"},
	{"inlined without a count", "f:5:1\n 1: foo\n", "FILE:2: " + noLine + " 1: foo"},
	{"unknown metadata", "f:5:1\n 1: 5\n !Flat\n", "FILE:3: " + noLine + " !Flat"},
	{"line behind metadata", "f:5:1\n 1: 3\n !CFGChecksum: 5\n 2: 4\n", "FILE:4: Found non-metadata after metadata:  2: 4"},
	{"no second header", "f:5:1\n 1: 5\ng\n", "FILE:3: " + noHead + "g"},
	{"header with one number", "f:5:1\n 1: 5\ng:1\n", "FILE:3: " + noHead + "g:1"},
	{"blank behind the header", "f:5:1 \n 1: 5\n", "FILE: " + noText},
	{"blank in the header", "main.main: 1000:10\n", "FILE: " + noText},
	{"blank before the header", " f:5:1\n 1: 5\n", "FILE: " + noText},
	{"indented comment first", "  # c\nf:5:1\n 1: 5\n", "FILE: " + noText},
	{"empty", "", "FILE: " + noText},
	{"comments only", "# of today\n", "FILE: " + noText},
	{"another text", "package main\n", "FILE: " + noText},
	{"counter overflow", "f:5:1\n 1: 18446744073709551615\n 1: 1\n", "FILE: Counter overflow"},
	{"counter overflow of an inlinee", "f:5:1\n 1: g:18446744073709551615\n 1: g:1\n", "FILE: Counter overflow"},
	{"counter overflow of a target", "f:5:1\n 1: 1 g:18446744073709551615\n 1: 1 g:1\n", "FILE: Counter overflow"},
}

func TestRejectsWhatLLVMRejects(t *testing.T) {
	for _, c := range rejected {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Read(strings.NewReader(c.in), "FILE", false)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v; want an *Error", err)
			}
			// LLVM reports no line for a fault of the file as a whole; this package does.
			file, text, _ := strings.Cut(c.want, ": ")
			if !strings.Contains(e.Text, text) || !strings.HasPrefix(e.Error(), file) {
				t.Errorf("got  %v\nwant %v", err, c.want)
			}
			if out, ok := canonical(t, c.in); ok || out != c.want {
				t.Errorf("llvm-profdata (%v) says\n%s\nwant\n%s", ok, out, c.want)
			}
		})
	}
}

// TestRejectsWhatClangMisreads: lines that LLVM accepts and that are refused here.
func TestRejectsWhatClangMisreads(t *testing.T) {
	for in, want := range map[string]string{
		"f:500:1\n 1:500\n":         "FILE:2: " + noLine + " 1:500 (write a blank behind the colon",
		"f:500:1\n 1:x500\n":        "FILE:2: " + noLine + " 1:x500 (write a blank",
		"f:500:1\n 1:foo:500\n":     "FILE:2: " + noLine + " 1:foo:500 (write a blank",
		"f:500:1\n 1:\t500\n":       "FILE:2: " + noLine + " 1:\t500 (write a blank",
		"f:500:1\n 5\n":             "FILE:2: " + noLine + " 5 (write a blank",
		"[a:3.0 @ f]:1:1\n":         "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM', found [a:3.0 @ f]:1:1",
		"[a:-3 @ f]:1:1\n":          "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
		"[a:3 @ f:1]:1:1\n":         "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
		"[fx:1:1\n":                 "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
		"[type:.eq.T:3 @ f]:1:1\n":  "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
		"[a:3 @ f]:1:1\ng:1:1\n":    "FILE:2: Expected functions with contexts only or without contexts only, found both: g:1:1",
		"f:1:1\n[a:3 @ f]:1:1\n":    "FILE:2: Expected functions with contexts only",
		"[a:4294967295 @ f]:1:1\n":  "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
		"[a:99999999999 @ f]:1:1\n": "FILE:1: Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM'",
	} {
		if _, _, err := Read(strings.NewReader(in), "FILE", false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v; want %s", in, err, want)
		}
		if out, ok := canonical(t, in); !ok {
			t.Errorf("%q: llvm-profdata refuses it too: %s", in, out)
		}
	}
	for _, in := range []string{"[]:1:1\n", "[f:1:1\n"} { // llvm-profdata 14 ends with a signal
		if _, _, err := Read(strings.NewReader(in), "FILE", false); err == nil {
			t.Errorf("%q is accepted", in)
		}
	}
}

func TestOtherFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	save(t, dir, "text", "f:5:1\n 1: 5\n")
	for flag, want := range map[string]string{"--binary": "binary sample", "--compbinary": "compact binary sample", "--extbinary": "extensible binary sample"} {
		if out, ok := profdata(t, dir, "merge", "--sample", flag, "text", "-o", "bin"); !ok {
			t.Fatal(out)
		}
		_, _, err := Read(strings.NewReader(load(t, dir, "bin")), "bin", false)
		if err == nil || !strings.Contains(err.Error(), "this is a"+article(want)+" "+want) || !strings.Contains(err.Error(), "llvm-profdata merge --sample --text IN -o OUT") {
			t.Errorf("%s: %v", flag, err)
		}
	}
	for in, want := range map[string]string{
		"adcg*704\x00\x01":                           "for GCC",
		"\x1f\x8b\x08\x00":                           "gzip",
		"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03":   "pprof's format",
		"\xfflprofi\x81\x01":                         "instrumented code",
		"PERFILE2\x68":                               "perf.data",
		"\x7fELF\x02":                                "a program or a library",
		"\xff\xfef\x00:\x001\x00:\x001\x00\n\x00":    noText,
		"f:1:1\n 1: 1\n 2: \x1b[31m1" + "\n":         `\x1b[31m1"`,
		"f:1:1\n " + strings.Repeat("x", 300) + "\n": "…",
	} {
		if _, _, err := Read(strings.NewReader(in), "FILE", false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v; want %s", in, err, want)
		}
	}
}

func article(kind string) string {
	if kind[0] == 'e' {
		return "n"
	}
	return ""
}

func TestReadErrors(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("f:5:1\n 1: 5\n"), iotest.ErrReader(errors.New("disk is gone")))
	if _, _, err := Read(broken, "FILE", false); err == nil || err.Error() != "FILE:3: reading: disk is gone" {
		t.Errorf("got %v", err)
	}
	long := io.MultiReader(strings.NewReader("f:5:1\n "), io.LimitReader(endless{}, lineMost+1<<20))
	if _, _, err := Read(long, "FILE", false); !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "16777216 bytes") {
		t.Errorf("a line without an end: %v", err)
	}
	const carriage = "f:5:1\n 1: 5\r" // which llvm-profdata prints unchanged
	if _, _, err := Read(strings.NewReader(carriage), "FILE", false); err == nil || err.Error() != "FILE:2: "+noLine+`" 1: 5\r"` {
		t.Errorf("got %v", err)
	}
	if out, ok := canonical(t, carriage); ok {
		t.Errorf("llvm-profdata takes a carriage return at the end: %s", out)
	}
	many := "f:1500:1\n" + strings.Repeat("    1: 1\n", 1500)
	_, warnings, err := Read(strings.NewReader(many), "FILE", false)
	if err != nil || len(warnings) != warningsMost+1 || warnings[warningsMost].Text != "500 more warnings are not listed" {
		t.Errorf("%d warnings, %v", len(warnings), err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '7'
	}
	return len(b), nil
}

// TestCutText cuts a profile at every length: each is an error or has a warning, except prefixes
// that end with a line after which the function may end. The format has no end mark, so those are
// complete.
func TestCutText(t *testing.T) {
	legal := map[int]bool{}
	for n := range sample {
		if sample[:n] == "" || sample[n-1] != '\n' {
			continue
		}
		p, _, err := Read(strings.NewReader(sample[:n]), "FILE", true)
		if err != nil {
			t.Fatal(err)
		}
		legal[n] = true
		for _, f := range p.Functions {
			legal[n] = legal[n] && f.Total == f.Sum()
		}
	}
	found := 0
	for n := range sample {
		_, warnings, err := Read(strings.NewReader(sample[:n]), "FILE", false)
		if err == nil && len(warnings) == 0 {
			found++
			if !legal[n] {
				t.Errorf("%q is taken for a whole file", sample[:n])
			}
		}
	}
	if found != 1 { // main.main as a whole
		t.Errorf("%d prefixes are whole files, want 1", found)
	}
}
