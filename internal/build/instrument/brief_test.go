package instrument_test

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
)

// TestBrief: functions that call only brief functions are not recorded. Functions that may
// take longer are: with a loop, a wait or recursion, or a call through an interface or a
// variable, or of an unknown function of another package.
func TestBrief(t *testing.T) {
	const many = "\tn = n<<3 ^ n>>5 + 7\n\tn = n<<5 ^ n>>3 + 9\n\tn = n<<7 ^ n>>9 + 1\n\tn = n<<2 ^ n>>4 + 3\n\tn = n<<6 ^ n>>1 + 5\n\tn = n<<1 ^ n>>8 + 2\n\tn = n<<9 ^ n>>6 + 4\n\tn = n<<4 ^ n>>2 + 6\n"
	for _, c := range []struct{ name, body, why string }{
		{"quick", "r, w := utf8.DecodeRuneInString(s)\n" + many + "return n + w + int(r)", instrument.WhyBrief},
		{"unicodes", many + "if unicode.Is(unicode.Han, rune(n)) {\nreturn 1\n}\nreturn n", instrument.WhyBrief},
		{"same", many + "return n + step(n)", instrument.WhyBrief},
		{"method", many + "return n + x.step(n)", instrument.WhyBrief},
		{"appends", many + "list = append(list, n)\nreturn n", instrument.WhyBrief},
		{"panics", many + "if n == 9 {\npanic(fmt.Sprint(n))\n}\nreturn n + step(n)", instrument.WhyBrief},
		{"twice", many + "return n + twice(n)", ""},
		{"loop", many + "return n + loops(n)", ""},
		{"waits", many + "return n + waits()", ""},
		{"locks", many + "mu.Lock()\nn += step(n)\nmu.Unlock()\nreturn n", ""},
		{"variable", many + "return n + f(n)", ""},
		{"through", many + "return n + i.step(n)", ""},
		{"another", many + "return n + other.Step(n)", ""},
		{"slow", many + "return n + strings.Index(s, \"x\")", ""},
		{"all", many + "list = append(list, list...)\nreturn n", ""},
		{"shadowed", many + "append := f\nreturn n + append(n)", ""},
		{"large", many + strings.Repeat(many, 4) + "return n + step(n)", ""},
	} {
		out, err := instrument.Package(instrument.Input{
			ImportPath: "example.com/p", Name: "p", Hooks: "example.com/hooks",
			Files: map[string][]byte{"a.go": []byte("package p\n\nimport (\n\"fmt\"\n\"strings\"\n\"sync\"\n\"unicode\"\n\"unicode/utf8\"\n\"example.com/other\"\n)\n\n" +
				"var (\nlist []int\ns string\nmu sync.Mutex\nc chan int\nf = func(n int) int { return n }\ni interface{ step(int) int }\nx T\n_ = fmt.Sprint\n_ = strings.Index\n_ = unicode.Is\n_ = utf8.RuneLen\n_ = other.Step\n)\n\ntype T struct{}\n\n" +
				"func step(n int) int {\n" + many + "return n\n}\n\nfunc (T) step(n int) int {\n" + many + "return n\n}\n\n" +
				"func twice(n int) int {\n" + many + "if n > 9 {\nn = twice(n)\n}\nreturn n\n}\n\n" +
				"func loops(n int) int {\nfor n < 1<<40 {\n" + many + "}\nreturn n\n}\n\nfunc waits() int { return <-c }\n\n" +
				"func " + c.name + "Here(n int) int {\n" + c.body + "\n}\n")},
		})
		if err != nil {
			t.Fatal(err)
		}
		why := "it is not there"
		for _, f := range out.Funcs {
			if f.Name == "p."+c.name+"Here" {
				why = f.Why
			}
		}
		if why != c.why {
			t.Errorf("%s: %q, want %q", c.name, why, c.why)
		}
	}
}
