package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
)

// stream is a list of a JSON document that is made as it is written: a trace can have more
// to list than there should be in memory at once.
type stream[T any] iter.Seq[T]

func streamOf[S, T any](list []S, f func(S) T) stream[T] {
	return func(yield func(T) bool) {
		for _, x := range list {
			if !yield(f(x)) {
				return
			}
		}
	}
}

// schemaVersion is that of the documents. It grows when a key changes its meaning or goes
// away; keys that are new leave it as it is.
const schemaVersion = 1

// schema is what the document of a command says that it is.
func schema(command string) string { return fmt.Sprintf("scopeview.%s/%d", command, schemaVersion) }

// writeJSON writes v, a struct or a pointer to one, as an indented JSON document, the one
// that a command prints. Lists that are v's own fields are written element by element.
// docs/json.md has all of it.
func writeJSON(w io.Writer, command string, v any) error {
	j := jsonWriter{w: w}
	j.e = json.NewEncoder(&j.b)
	j.e.SetEscapeHTML(false)
	j.text("{\n  ")
	j.value("schema", "")
	j.text(": ")
	j.value(schema(command), "")
	j.fields(reflect.Indirect(reflect.ValueOf(v)))
	j.text("\n}\n")
	return j.err
}

// fields writes those of a struct, and of what is embedded in it.
func (j *jsonWriter) fields(doc reflect.Value) {
	for i := range doc.NumField() {
		if doc.Type().Field(i).Anonymous {
			j.fields(reflect.Indirect(doc.Field(i)))
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
			j.list(func(yield func(reflect.Value) bool) {
				for k := range f.Len() {
					if !yield(f.Index(k)) {
						return
					}
				}
			})
		case reflect.Func:
			j.list(f.Seq())
		default:
			j.value(f.Interface(), "  ")
		}
	}
}

// jsonWriter writes parts of a document, up to the first error.
type jsonWriter struct {
	w   io.Writer
	b   bytes.Buffer
	e   *json.Encoder
	err error
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

func (j *jsonWriter) list(seq iter.Seq[reflect.Value]) {
	sep := "[\n    "
	for v := range seq {
		j.text(sep)
		j.value(v.Interface(), "    ")
		if sep = ",\n    "; j.err != nil {
			return
		}
	}
	if sep[0] == '[' {
		j.text("[]")
		return
	}
	j.text("\n  ]")
}
