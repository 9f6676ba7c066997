package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// List is a list of a JSON document that is generated while it is written: the list may be larger
// than memory.
type List[T any] iter.Seq[T]

// ListOf returns the list of f's results for each element.
func ListOf[S, T any](list []S, f func(S) T) List[T] {
	return func(yield func(T) bool) {
		for _, x := range list {
			if !yield(f(x)) {
				return
			}
		}
	}
}

// All returns the list of rows that are in memory.
func All[R any](rows []R) List[R] { return List[R](slices.Values(rows)) }

// RowsOf returns row's results for each element.
func RowsOf[S, R any](list []S, row func(S) R) []R {
	rows := make([]R, len(list))
	for i, x := range list {
		rows[i] = row(x)
	}
	return rows
}

// schemaVersion is the version of the documents. It grows when a key changes its meaning or is
// removed; new keys leave it unchanged.
const schemaVersion = 1

// Schema returns the schema name in the document of a command.
func Schema(command string) string { return fmt.Sprintf("scopeview.%s/%d", command, schemaVersion) }

// WriteJSON writes the indented JSON document of a command. It writes the lists that are fields of
// doc element by element; of each List it writes at most limit elements, or all if limit is 0.
// docs/json.md describes the documents.
func WriteJSON(w io.Writer, command string, doc any, limit int) error {
	j := jsonWriter{w: w, limit: limit}
	j.e = json.NewEncoder(&j.b)
	j.e.SetEscapeHTML(false)
	j.text("{\n  ")
	j.value("schema", "")
	j.text(": ")
	j.value(Schema(command), "")
	j.fields(reflect.Indirect(reflect.ValueOf(doc)))
	j.text("\n}\n")
	return j.err
}

// Marshal returns the JSON of a value as documents have it: json.Marshal would escape <Total>.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// fields writes the fields of a struct, and those of structs embedded in it.
func (j *jsonWriter) fields(doc reflect.Value) {
	for i := range doc.NumField() {
		if doc.Type().Field(i).Anonymous {
			j.fields(reflect.Indirect(doc.Field(i)))
			continue
		}
		if !doc.Type().Field(i).IsExported() {
			continue
		}
		tag := strings.Split(doc.Type().Field(i).Tag.Get("json"), ",")
		f := doc.Field(i)
		if len(tag) > 1 && f.IsZero() {
			continue // omitempty
		}
		j.text(",\n  ")
		j.value(tag[0], "")
		j.text(": ")
		switch f.Kind() {
		case reflect.Slice:
			j.list(0, func(yield func(reflect.Value) bool) {
				for k := range f.Len() {
					if !yield(f.Index(k)) {
						return
					}
				}
			})
		case reflect.Func:
			j.list(j.limit, f.Seq())
		default:
			j.value(f.Interface(), "  ")
		}
	}
}

// jsonWriter writes parts of a document, up to the first error.
type jsonWriter struct {
	w     io.Writer
	b     bytes.Buffer
	e     *json.Encoder
	limit int // of a List
	err   error
}

func (j *jsonWriter) text(s string) {
	if j.err == nil {
		_, j.err = io.WriteString(j.w, s)
	}
}

func (j *jsonWriter) value(v any, prefix string) {
	if j.err != nil {
		return
	}
	j.b.Reset()
	j.e.SetIndent(prefix, "  ")
	if j.err = j.e.Encode(v); j.err == nil {
		_, j.err = j.w.Write(bytes.TrimSuffix(j.b.Bytes(), []byte("\n")))
	}
}

// list writes the first n elements, or all if n is 0.
func (j *jsonWriter) list(n int, seq iter.Seq[reflect.Value]) {
	sep := "[\n    "
	for v := range seq {
		j.text(sep)
		j.value(v.Interface(), "    ")
		if sep = ",\n    "; j.err != nil {
			return
		}
		if n--; n == 0 {
			break
		}
	}
	if sep[0] == '[' {
		j.text("[]")
		return
	}
	j.text("\n  ]")
}
