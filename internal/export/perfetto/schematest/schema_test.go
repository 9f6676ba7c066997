// Package schematest reads the output of package perfetto with Perfetto's schema and the
// protobuf library. It is a separate module, so that the tool depends on neither.
package schematest

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace/text"
)

var (
	update   = flag.Bool("update", false, "rewrite testdata/*.golden")
	checkout = flag.String("perfetto", "", "a checkout of github.com/google/perfetto, whose whole schema is used instead of testdata/subset.proto")
)

// schema returns the message perfetto.protos.Trace.
func schema(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	dir, file := "testdata", "subset.proto"
	if *checkout != "" {
		dir, file = *checkout, "protos/perfetto/trace/trace.proto"
	}
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}})}
	files, err := c.Compile(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Messages().ByName("Trace")
}

// TestSchema: each file is a Trace, has no field outside the schema, and has the expected
// text.
func TestSchema(t *testing.T) {
	trace := schema(t)
	inputs, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, in := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(in), ".trace"), func(t *testing.T) {
			m := dynamicpb.NewMessage(trace)
			if err := proto.Unmarshal(export(t, in), m); err != nil {
				t.Fatal(err)
			}
			known(t, m)
			golden := strings.TrimSuffix(in, ".trace") + ".golden"
			got := lines(m)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := filetest.Read(t, golden)
			if got != string(want) {
				t.Errorf("%s differs:\n%s", golden, got)
			}
		})
	}
}

// export writes the trace of a text file.
func export(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := text.Assemble(f)
	if err != nil {
		t.Fatal(err)
	}
	tr := tracetest.Open(t, data)
	var b bytes.Buffer
	if _, err := perfetto.Write(context.Background(), &b, tr, rows.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// known checks that the schema has every field of m.
func known(t *testing.T, m protoreflect.Message) {
	t.Helper()
	if u := m.GetUnknown(); len(u) > 0 {
		t.Errorf("%s has fields that the schema does not know: % x", m.Descriptor().Name(), u)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				known(t, v.List().Get(i).Message())
			}
		default:
			known(t, v.Message())
		}
		return true
	})
}

// lines formats each packet as one line.
func lines(m protoreflect.Message) string {
	var b strings.Builder
	packets := m.Get(m.Descriptor().Fields().ByName("packet")).List()
	for i := range packets.Len() {
		fields(&b, packets.Get(i).Message())
		b.WriteString("\n")
	}
	return b.String()
}

// fields writes a message's fields by their numbers, in its own form: the library's text
// form deliberately changes from build to build.
func fields(b *strings.Builder, m protoreflect.Message) {
	list := m.Descriptor().Fields()
	byNumber := map[protoreflect.FieldNumber]protoreflect.FieldDescriptor{}
	var last protoreflect.FieldNumber
	for i := range list.Len() {
		f := list.Get(i)
		byNumber[f.Number()] = f
		last = max(last, f.Number())
	}
	space := ""
	for n := range last + 1 {
		f := byNumber[n]
		if f == nil || !m.Has(f) {
			continue
		}
		values := []protoreflect.Value{m.Get(f)}
		if f.IsList() {
			values = values[:0]
			for i := range m.Get(f).List().Len() {
				values = append(values, m.Get(f).List().Get(i))
			}
		}
		for _, v := range values {
			fmt.Fprintf(b, "%s%s=", space, f.Name())
			space = " "
			switch {
			case f.Message() != nil:
				b.WriteString("{")
				fields(b, v.Message())
				b.WriteString("}")
			case f.Enum() != nil:
				b.WriteString(string(f.Enum().Values().ByNumber(v.Enum()).Name()))
			case f.Kind() == protoreflect.StringKind:
				fmt.Fprintf(b, "%q", v.String())
			case f.Kind() == protoreflect.BytesKind:
				fmt.Fprintf(b, "%q", v.Bytes())
			default:
				fmt.Fprint(b, v.Interface())
			}
		}
	}
}
