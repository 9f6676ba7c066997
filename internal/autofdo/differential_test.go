package autofdo

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

const sample = `main.main:1510:10
 1: 500
 2.3: 500 main.f:3 main.(*T).M:7
 4: main.g:510
  1: 400
  2: 10 type:.eq.T:4 a b:6
  7: h:100
   1: 100
main.f:50:7
 0: 50
`

// TestDamagedProfiles damages a profile in many ways. LLVM and this package accept the same,
// with the same counts, and refuse at the same line.
func TestDamagedProfiles(t *testing.T) {
	n := 250
	if testing.Short() {
		n = 50
	}
	random := rand.New(rand.NewPCG(16, 14))
	accepted := 0
	for range n {
		in := damage(random, sample)
		p, _, err := Read(strings.NewReader(in), "FILE", false)
		out, ok := canonical(t, in)
		if err == nil {
			accepted++
			if got := written(t, p); got != out && !strings.Contains(got, ".0: ") {
				t.Errorf("%q\ngot:\n%s\nllvm-profdata (%v):\n%s", in, got, ok, out)
			}
		} else if !misread(err) {
			refusedAlike(t, in, err, out, ok)
		}
	}
	if accepted < n/20 || accepted > n*19/20 {
		t.Errorf("%d of %d are accepted: the damage tests little", accepted, n)
	}
}

// refusedAlike checks that llvm-profdata refuses a profile too, at the same line if it
// reports one.
func refusedAlike(t *testing.T, in string, err error, out string, ok bool) {
	t.Helper()
	if ok {
		t.Errorf("%q: %v; llvm-profdata accepts it:\n%s", in, err, out)
	} else if got, want := place(err.Error()), place(out); len(out) > 5 && digit(out[5]) && got != want {
		t.Errorf("%q: refused at %s; llvm-profdata at %s", in, got, want)
	}
}

// misread reports whether an error is of a line that LLVM should refuse, and does not.
func misread(err error) bool {
	return strings.Contains(err.Error(), "write a blank behind the colon") || strings.Contains(err.Error(), "[NAME:NUM") || strings.Contains(err.Error(), "found both")
}

// place returns the FILE:LINE of a message.
func place(message string) string {
	file, rest, _ := strings.Cut(message, ":")
	line, _, _ := strings.Cut(rest, ":")
	return file + ":" + line
}

// damage changes a text at up to three places.
func damage(random *rand.Rand, text string) string {
	b := []byte(text)
	const with = " \t:.#!09[]x\r\n@-"
	for range 1 + random.IntN(3) {
		at := random.IntN(len(b))
		switch random.IntN(4) {
		case 0:
			b[at] = with[random.IntN(len(with))]
		case 1:
			b = append(b[:at], b[at+1:]...)
		case 2:
			b = append(b[:at], append([]byte{with[random.IntN(len(with))]}, b[at:]...)...)
		case 3: // swaps two lines
			lines := bytes.SplitAfter(b, []byte("\n"))
			i, k := random.IntN(len(lines)), random.IntN(len(lines))
			lines[i], lines[k] = lines[k], lines[i]
			b = bytes.Join(lines, nil)
		}
	}
	return string(b)
}
