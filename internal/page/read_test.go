package page

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// element is an element of a page.
type element struct {
	name    string
	attrs   string
	content string // of script and style
}

var tag = regexp.MustCompile(`(?i)<(!--|!doctype|/?[a-z][a-z0-9]*)`)

// elements splits a page into its elements as a browser does: the content of script and
// style is text up to the end tag.
func elements(t *testing.T, page string) (list []element) {
	t.Helper()
	for {
		m := tag.FindStringSubmatchIndex(page)
		if m == nil {
			return list
		}
		name := strings.ToLower(page[m[2]:m[3]])
		page = page[m[1]:]
		if name == "!--" {
			_, page, _ = strings.Cut(page, "-->")
			continue
		}
		end := strings.IndexByte(page, '>')
		if end < 0 {
			t.Fatalf("<%s is not closed", name)
		}
		e := element{name: name, attrs: strings.TrimSpace(page[:end])}
		page = page[end+1:]
		if name == "script" || name == "style" {
			at := strings.Index(strings.ToLower(page), "</"+name)
			if at < 0 {
				t.Fatalf("<%s> has no end", name)
			}
			e.content, page = page[:at], page[at:]
			if name == "script" && strings.Contains(e.content, "<!--") {
				t.Fatal("<!-- in a script changes how its end is found")
			}
		}
		list = append(list, e)
	}
}

// held is the content of a page's container.
type held struct {
	Meta struct {
		Names   []string
		Scopes  int64
		End     int64
		Reduced bool
		Writer  string
		Title   string
		Banner  []timeline.Said
		Info    [][2]string
		Summary *timeline.Summary
	}
	Tile struct {
		From, To, Res int64
		Strings       []string
		Rows          [][2]uint64
	}
	Advice  *Advice
	Columns [][4]any
	bytes   map[string][]byte
	counts  map[string]int
	text    string // the header
}

// dataOf decodes a page's data.
func dataOf(t *testing.T, page string) *held {
	t.Helper()
	for _, e := range elements(t, page) {
		if e.name != "script" || !strings.Contains(e.attrs, `id="data"`) {
			continue
		}
		packed, err := base64.StdEncoding.DecodeString(e.content)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil || !bytes.HasPrefix(raw, []byte("SVC1")) {
			t.Fatalf("no container: %v", err)
		}
		n := binary.LittleEndian.Uint32(raw[4:])
		h := &held{bytes: map[string][]byte{}, counts: map[string]int{}}
		if err := json.Unmarshal(raw[8:8+n], h); err != nil {
			t.Fatal(err)
		}
		h.text, raw = string(raw[8:8+n]), raw[8+n:]
		for _, c := range h.Columns {
			name, size := c[0].(string), int(c[3].(float64))
			h.bytes[name], h.counts[name], raw = raw[:size], int(c[2].(float64)), raw[size:]
		}
		if len(raw) > 0 {
			t.Fatalf("%d bytes are in no column", len(raw))
		}
		return h
	}
	t.Fatal("the page has no data")
	return nil
}

// sum adds up a column of unsigned values.
func (h *held) sum(name string) (n uint64) {
	for b := h.bytes[name]; len(b) > 0; {
		v, w := binary.Uvarint(b)
		n += v
		b = b[w:]
	}
	return n
}

func written(t *testing.T, tr *trace.Trace, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
