// Package ask has the saved questions about the tables of a fleet, and runs them in engines.
package ask

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed questions/*.sql
var saved embed.FS

// Question is SQL with parameters.
type Question struct {
	Name   string
	About  string // a sentence
	Params []Param
	SQL    string
}

// Param is a parameter: $Name in the SQL.
type Param struct {
	Name, Type string // text, number or integer
	Preset     string
	Required   bool
	About      string
}

// mostText is the maximum size of a parameter, and mostSQL that of a file of SQL.
const (
	mostText = 512
	mostSQL  = 1 << 20
)

var paramLine = regexp.MustCompile(`^-- param ([a-z_]+) (text|number|integer) (\S+) (.+)$`)

// Saved returns the saved questions.
func Saved() (list []Question) {
	names, err := fs.Glob(saved, "questions/*.sql")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for _, n := range names {
		b, err := saved.ReadFile(n)
		if err != nil {
			panic(err) // the name was just listed
		}
		q, err := Parse(strings.TrimSuffix(strings.TrimPrefix(n, "questions/"), ".sql"), string(b))
		if err != nil {
			panic(err) // tests read all of them
		}
		list = append(list, q)
	}
	return list
}

// Parse reads the SQL of a question: the comments at its begin have the description, and the
// parameters with their defaults (!: required).
func Parse(name, text string) (q Question, err error) {
	if len(text) > mostSQL || !utf8.ValidString(text) {
		return q, errors.New("the question is no text, or too long")
	}
	q = Question{Name: name, SQL: strings.TrimSpace(text)}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "--") {
			break
		}
		m := paramLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			q.Params = append(q.Params, Param{m[1], m[2], m[3], m[3] == "!", m[4]})
		case strings.HasPrefix(line, "-- param"):
			return q, fmt.Errorf("%q: a parameter is -- param NAME text|number|integer PRESET|! ABOUT", line)
		case q.About == "":
			q.About = strings.TrimSpace(strings.TrimPrefix(line, "--"))
		}
	}
	return q, nil
}

var paramUse = regexp.MustCompile(`\$[a-z_]+`)

// Fill returns the SQL with the parameters as literals.
func (q *Question) Fill(set map[string]string) (string, error) {
	for name := range set {
		if !slices.ContainsFunc(q.Params, func(p Param) bool { return p.Name == name }) {
			return "", fmt.Errorf("the question %s has no parameter %q, but %s", q.Name, name, strings.Join(q.names(), ", "))
		}
	}
	literals := map[string]string{}
	for _, p := range q.Params {
		v, given := set[p.Name]
		if !given && p.Required {
			return "", fmt.Errorf("the question %s needs --set %s=…: %s", q.Name, p.Name, p.About)
		}
		if !given {
			v = p.Preset
		}
		lit, err := p.literal(v)
		if err != nil {
			return "", err
		}
		literals["$"+p.Name] = lit
	}
	_, body := q.split()
	return paramUse.ReplaceAllStringFunc(body, func(use string) string {
		if lit, ok := literals[use]; ok {
			return lit
		}
		return use // it is SQL's own
	}), nil
}

func (q *Question) names() (list []string) {
	for _, p := range q.Params {
		list = append(list, p.Name)
	}
	return list
}

// split separates the comments at the begin from the SQL.
func (q *Question) split() (head, body string) {
	body = q.SQL
	for strings.HasPrefix(body, "--") {
		_, body, _ = strings.Cut(body, "\n")
		body = strings.TrimLeft(body, " \t\r\n")
	}
	return q.SQL[:len(q.SQL)-len(body)], body
}

// literal returns a value as a literal for both engines: in a text only the quote is
// special.
func (p *Param) literal(v string) (string, error) {
	switch p.Type {
	case "number":
		f, err := strconv.ParseFloat(v, 64)
		if err != nil || f-f != 0 {
			return "", fmt.Errorf("--set %s=%q: it takes a number: %s", p.Name, v, p.About)
		}
		return strconv.FormatFloat(f, 'e', -1, 64), nil
	case "integer":
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			return "", fmt.Errorf("--set %s=%q: it takes a number without a fraction: %s", p.Name, v, p.About)
		}
		return strconv.FormatInt(n, 10), nil
	}
	if len(v) > mostText || !utf8.ValidString(v) || strings.ContainsFunc(v, unicode.IsControl) {
		return "", fmt.Errorf("--set %s=…: the text is longer than %d bytes, or has bytes that are no text", p.Name, mostText)
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'", nil
}
