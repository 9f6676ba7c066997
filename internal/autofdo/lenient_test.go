package autofdo

import (
	"strings"
	"testing"
)

// TestLenient: each forgiven line has one warning, and the profile is the intended one.
func TestLenient(t *testing.T) {
	const want = "f:500:10\n 1: 300 a:3 b:2\n 2.3: 100\n 4: g:100\n  1: 100\n"
	for name, c := range map[string]struct {
		in       string
		warnings []int // their lines
	}{
		"strict":            {want, nil},
		"CRLF":              {strings.ReplaceAll(want, "\n", "\r\n"), nil},
		"tabs":              {"f:500:10\n\t1: 300 a:3 b:2\n\t2.3:\t100\n 4: g:100\n\t\t1:\t100\n", []int{2, 3, 5}},
		"no blank":          {"f:500:10\n 1:300 a:3 b:2\n 2.3:100\n 4:g:100\n  1:100\n", []int{2, 3, 4, 5}},
		"two blanks":        {"f:500:10\n 1:  300 a:3  b:2\n 2.3:  100\n 4:  g:100\n  1:   100\n", []int{2, 3, 4, 5}},
		"blank at the end":  {"f:500:10 \n 1: 300 a:3 b:2 \n 2.3: 100\t\n 4: g:100 \n  1: 100  \n", []int{1, 2, 3, 4, 5}},
		"blank before":      {" f:500:10\n 1: 300 a:3 b:2\n 2.3: 100\n 4: g:100\n  1: 100\n", []int{1}},
		"blanks in headers": {"f : 500 :\t10\n 1 : 300 a:3 b:2\n 2.3\t: 100\n 4: g : 100\n  1: 100\n", []int{1, 2, 3, 4}},
		"blanks in targets": {"f:500:10\n 1: 300 a : 3 b: 2\n 2.3: 100\n 4: g:100\n  1: 100\n", []int{2}},
		"not indented":      {"f:500:10\n1: 300 a:3 b:2\n2.3: 100\n4:g: 100\n  1: 100\n", []int{2, 3, 4}},
		"lines of blanks":   {"  \nf:500:10\n \t\n 1: 300 a:3 b:2\n 2.3: 100\n 4: g:100\n  1: 100\n \t# c\n", []int{1, 3}},
		"byte order mark":   {"\ufeff" + want, []int{1}},
		"flat":              {want + " !Flat\n", []int{6}},
		"tabs in targets":   {"f:500:10\n 1: 300\ta:3\tb:2\n 2.3: 100\n 4: g:100\n  1: 100\n", []int{2}},
	} {
		t.Run(name, func(t *testing.T) {
			p, warnings, err := Read(strings.NewReader(c.in), "FILE", true)
			if err != nil {
				t.Fatal(err)
			}
			if got := written(t, p); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if len(warnings) != len(c.warnings) {
				t.Fatalf("warnings %v; want one for each of the lines %v", warnings, c.warnings)
			}
			for i, w := range warnings {
				if w.Line != c.warnings[i] || !strings.HasPrefix(w.Text, "forgiven: ") {
					t.Errorf("warning %v; want one for line %d", w, c.warnings[i])
				}
			}
		})
	}
}

func TestLenientRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"f:5:1\n 70000: 5\n":                "FILE:2: " + noLine + " 70000: 5",
		"f:5:1\n -1: 5\n":                   "FILE:2: " + noLine + " -1: 5",
		"f:5:1\n 1: 18446744073709551616\n": "FILE:2: " + noLine,
		"f:5:1\n !What: 3\n":                "FILE:2: " + noLine + " !What: 3",
		"f:5:1\nwhat\n":                     "FILE:2: " + noHead + "what",
		"what\n":                            "FILE:1: " + noText,
		" \n":                               "FILE: " + noText,
	} {
		if _, _, err := Read(strings.NewReader(in), "FILE", true); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v; want %s", in, err, want)
		}
	}
}
