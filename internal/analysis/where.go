package analysis

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Where has the conditions of a search, all of which must hold. The page's search has the same language:
// export/html/assets/model/search.js.
//
//	parse          the name or an argument contains it, ignoring case; "two words", name:parse and -parse work, too
//	dur>10ms       the duration; units: ns, us, ms, s, m; <, <=, >= and = work, too
//	cpu>1ms        the CPU time, if it is known
//	parse>10ms     the name or an argument contains parse, and the duration is longer
//	status=500     an argument; size>1000 compares numbers
type Where struct {
	text  string
	texts []wanted
	args  []argTest
	times []timeTest
}

// wanted is a text, in lower case, that an event must contain, or must not.
type wanted struct {
	text string
	not  bool
}

// argTest is a condition of the argument key.
type argTest struct {
	key   string
	holds func(value string) bool
	not   bool
}

// timeTest is a condition of a time.
type timeTest struct {
	cpu   bool // else the duration
	holds func(ns float64) bool
	not   bool
}

// whereToken has one of: a field with a comparison; name: with a text; a quoted text; a word.
var whereToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(-?)(?:([\p{L}_][\p{L}\p{N}_.]*)(>=|<=|>|<|=)(\S*)|((?i:name:))?(?:"((?:[^"\\]|\\.)*)("?)|(\S+)))`)
})

var quantity = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d+(?:\.\d*)?|\.\d+)(\p{L}+|%)?$`) })

var whereUnits = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10}

// ParseWhere parses conditions. Each text that is no comparison is searched for, so the only error is a
// quote that is not closed.
func ParseWhere(text string) (*Where, error) {
	w := &Where{text: text}
	var words []string
	flush := func() {
		if len(words) > 0 {
			w.texts = append(w.texts, wanted{text: strings.ToLower(strings.Join(words, " "))})
		}
		words = nil
	}
	for _, m := range whereToken().FindAllStringSubmatchIndex(text, -1) {
		part := func(group int) (string, bool) {
			if m[2*group] < 0 {
				return "", false
			}
			return text[m[2*group]:m[2*group+1]], true
		}
		minus, _ := part(1)
		field, compares := part(2)
		_, named := part(5)
		quoted, isQuoted := part(6)
		word, _ := part(8)
		not := minus == "-"
		if closed, _ := part(7); isQuoted && closed == "" {
			return nil, fmt.Errorf("%s: a quote is not closed", text[m[0]:m[1]])
		}
		switch {
		case compares:
			sign, _ := part(3)
			value, _ := part(4)
			if w.compare(strings.ToLower(field), sign, value, not, flush) {
				break
			}
			words = append(words, text[m[0]:m[1]])
		case isQuoted:
			flush()
			w.texts = append(w.texts, wanted{strings.ToLower(unescaped(quoted)), not})
		case named || not:
			flush()
			w.texts = append(w.texts, wanted{strings.ToLower(word), not})
		default:
			words = append(words, text[m[0]:m[1]])
		}
	}
	flush()
	if len(w.texts)+len(w.args)+len(w.times) == 0 {
		return nil, errors.New("it has no condition")
	}
	return w, nil
}

// unescaped returns a quoted text without its backslashes.
func unescaped(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// compare adds a comparison, after flush. It reports whether it is one: -2>1 is a text.
func (w *Where) compare(field, sign, value string, not bool, flush func()) bool {
	var number float64
	unit, isNumber := "", false
	if q := quantity().FindStringSubmatch(value); q != nil {
		number, _ = strconv.ParseFloat(q[1], 64)
		unit, isNumber = strings.ToLower(q[2]), true
	}
	isTime := field == "dur" || field == "cpu"
	if scale, ok := whereUnits[unit]; ok {
		flush()
		if !isTime {
			w.texts = append(w.texts, wanted{text: field})
		}
		w.times = append(w.times, timeTest{field == "cpu", func(ns float64) bool { return holds(ns, sign, number*scale) }, not})
		return true
	}
	if sign != "=" && (!isNumber || unit != "" || isTime) {
		return false
	}
	flush()
	test := argTest{key: field, not: not}
	if sign == "=" {
		test.holds = func(v string) bool { return strings.EqualFold(v, value) }
	} else {
		test.holds = func(v string) bool {
			n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			return err == nil && holds(n, sign, number)
		}
	}
	w.args = append(w.args, test)
	return true
}

func holds(v float64, sign string, limit float64) bool {
	c := cmp.Compare(v, limit)
	switch sign {
	case ">":
		return c > 0
	case "<":
		return c < 0
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	}
	return c == 0
}

// String returns the text of the conditions.
func (w *Where) String() string { return w.text }

// whereReader tests the events of a trace.
type whereReader struct {
	*Where
	name   func(id uint16) string
	breaks Breaks
	lister *args.Lister
	json   []byte
}

func newWhereReader(w *Where, t *trace.Trace) *whereReader {
	return &whereReader{Where: w, name: t.Name, breaks: t.Breaks(), lister: args.NewLister(t.Name)}
}

// keep reports whether all conditions hold.
func (r *whereReader) keep(e *trace.Event) bool {
	for _, t := range r.times {
		if ns, known := r.time(e, t.cpu); (known && t.holds(ns)) == t.not {
			return false
		}
	}
	if len(r.texts)+len(r.args) == 0 {
		return true
	}
	r.json = args.AppendJSON(r.json[:0], r.lister.List(e))
	name, lower := strings.ToLower(r.name(e.Name)), bytes.ToLower(r.json)
	for _, x := range r.texts {
		if (strings.Contains(name, x.text) || bytes.Contains(lower, []byte(x.text))) == x.not {
			return false
		}
	}
	if len(r.args) == 0 {
		return true
	}
	list := argTexts(r.json)
	for _, x := range r.args {
		found := false
		for _, a := range list {
			found = found || strings.EqualFold(a[0], x.key) && x.holds(a[1])
		}
		if found == x.not {
			return false
		}
	}
	return true
}

// time returns the duration or the CPU time of an event.
func (r *whereReader) time(e *trace.Event, cpu bool) (ns float64, known bool) {
	if cpu {
		return float64(e.CPU), !e.Open && (e.Quality == format.Exact || e.Quality == format.Likely)
	}
	instant := e.Kind == format.KindEvent || e.Kind == format.KindPending || e.Kind == format.KindCounter
	return float64(e.Dur), !instant && !r.breaks.Across(e)
}

// argTexts returns the keys and values of a flat JSON object as package args writes it.
func argTexts(object []byte) (list [][2]string) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return list
		}
		if k, ok := key.(string); ok {
			list = append(list, [2]string{k, fmt.Sprint(value)})
		}
	}
	return list
}
