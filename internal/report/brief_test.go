package report

import (
	"strings"
	"testing"
)

// TestCode: nothing in a name ends its code span, and long names are cut.
func TestCode(t *testing.T) {
	for text, want := range map[string]string{
		"":       "",
		"f1":     "`f1`",
		"a`b":    "`` a`b ``",
		"```":    "```` ``` ````",
		"`a``b`": "``` `a``b` ```",
	} {
		if got := Code(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{strings.Repeat("x", 500), strings.Repeat("世", 100), strings.Repeat("`", 500)} {
		if got := Cut(text, codeBytes); len(got) > codeBytes || !strings.HasSuffix(got, "…") {
			t.Errorf("%d bytes of %q", len(got), text[:9])
		}
	}
	if got := Fenced("a\n```\n# b"); got != "````text\na\n```\n# b\n````\n" {
		t.Error(got)
	}
	if got := Cell(Code("a|b")); got != "`a\\|b`" {
		t.Error(got)
	}
	if got := Prose("a `b` [c](d) <e>\x1b\nf"); strings.ContainsAny(got, "\x1b\n") || !strings.Contains(got, "\\`b\\` \\[c\\](d) \\<e\\>") {
		t.Error(got)
	}
	if got := SourceLine("/"+strings.Repeat("dir/", 50)+"store.go", 88); !strings.HasSuffix(got, "/dir/store.go:88`") || !strings.HasPrefix(got, "`…") || len(got) > codeBytes+10 {
		t.Error(got)
	}
	if got := SourceLine("", 3); got != "unknown" {
		t.Error(got)
	}
}

// TestCommands: each command can be given to a shell, or is not printed.
func TestCommands(t *testing.T) {
	b := Brief{Path: "x.scope", Range: []string{"--from=2s"}}
	for _, c := range []struct{ path, arg, want string }{
		{"x.scope", "f1", "`scopeview waits x.scope --name f1 --from=2s`"},
		{"my traces/x.scope", "count page", "`scopeview waits 'my traces/x.scope' --name 'count page' --from=2s`"},
		{"-x.scope", "$(rm -rf ~)", "`scopeview waits ./-x.scope --name '$(rm -rf ~)' --from=2s`"},
		{"x.scope", "it's", "`scopeview waits x.scope --name 'it'\\''s' --from=2s`"},
		{"x.scope", "a\nb", ""},
		{"x.scope", "", ""},
		{"-", "f1", ""},
		{strings.Repeat("dir/", 100), "f1", ""},
	} {
		got := b.CommandOn(c.path, "waits", "--name", c.arg)
		if got != c.want {
			t.Errorf("%q: %s, want %s", c, got, c.want)
		}
	}
	for name, want := range map[string]bool{"store.*": false, "a,b": false, "-a": false, "": false, "f1": true, "what?": false} {
		if _, ok := Glob(name); ok != want {
			t.Errorf("%q as a pattern: %v", name, ok)
		}
	}
	b.Ask = func(command, path string, args ...string) string { return command + " of " + path }
	if got := b.Command("top"); got != "top of x.scope" {
		t.Error(got)
	}
}

// TestBriefKeepsItsBound: lines that do not fit are left out and counted, and the hints at the end
// are kept.
func TestBriefKeepsItsBound(t *testing.T) {
	var b Brief
	b.More("`scopeview top x`: all names", "", strings.Repeat("x", 8*MostBrief))
	b.Heading("## Nothing")
	b.Heading("## Lines")
	for range 100 {
		b.Line(strings.Repeat("y", 99))
	}
	if b.Lines(strings.Repeat("z", 8*MostBrief), "z") {
		t.Error("more than there is room for was written")
	}
	page := b.String()
	if n := Tokens(page); n > MostBrief || n < MostBrief-100 {
		t.Errorf("%d tokens", n)
	}
	if !strings.HasPrefix(page, "## Lines\n\nyyy") || !strings.HasSuffix(page, "lines left out to stay brief.\n\n## More\n\n- `scopeview top x`: all names\n") || strings.Contains(page, "Nothing") || strings.Contains(page, "z") {
		t.Error(page)
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "a": 1, "word": 1, "words": 2, " word": 1, "a  b": 3, "1234": 2, "12ab": 2, "\n": 1, "|---|": 5, "µs": 3, "世": 3, "main.f 12.5ms": 7,
	} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
