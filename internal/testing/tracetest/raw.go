package tracetest

import (
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Grown returns the counts of slices that grew to n elements of 8 bytes.
func Grown(typ string, made, n int64, stack ...string) row.Row {
	r := row.Row{Kind: row.Slice, Type: typ, Stack: stack}
	r.V[row.Made], r.V[row.Exact], r.V[row.Grown], r.V[row.Copied], r.V[row.GrownBytes] = made, made, made*10, made*n*8, made*n*8
	r.V[row.MaxLen], r.V[row.MinLen], r.V[row.MaxCap] = n, n, n
	r.H[row.Len][row.Bucket(n)] = made
	r.H[row.Cap][row.Bucket(n)] = made
	return r
}

// WriteRaw writes the raw file beside a trace, of a program that counted for 100 ms.
func WriteRaw(t testing.TB, trace string, rows ...row.Row) {
	t.Helper()
	b := row.AppendHead(nil, &row.Head{Program: "example.com/p", Go: "go1.26.8", CPUs: 2, NS: 1e8, Looked: 1e8})
	frames := 0
	for i := range rows {
		var stack []int
		for _, f := range rows[i].Stack {
			b = row.AppendFrame(b, frames, f)
			stack = append(stack, frames)
			frames++
		}
		b = row.AppendRow(b, &rows[i], stack)
	}
	b = row.AppendEnd(b, len(rows))
	if err := os.WriteFile(strings.TrimSuffix(trace, ".scope")+".raw", b, 0o600); err != nil {
		t.Fatal(err)
	}
}
