//go:build !scope_off

package scopesql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopesql"
)

// use makes the calls of a typical program, and returns their results.
func use(ctx context.Context, db *sql.DB) (seen []string) {
	defer db.Close()
	see := func(format string, args ...any) { seen = append(seen, fmt.Sprintf(format, args...)) }
	result := func(r sql.Result, err error) {
		if err != nil {
			see("%v", err)
			return
		}
		n, err := r.RowsAffected()
		see("%d rows, %v", n, err)
	}
	rows := func(rows *sql.Rows, err error) {
		n := 0
		for err == nil && rows.Next() {
			n++
		}
		see("read %d, %v", n, err)
		if err == nil {
			rows.Close()
		}
	}
	see("%v", db.PingContext(ctx))
	result(db.ExecContext(ctx, "insert", 1))
	result(db.ExecContext(ctx, "insert", complex(1, 2))) // a type that only columns and checkers accept
	result(db.ExecContext(ctx, "insert", sql.Named("x", 1)))
	result(db.ExecContext(ctx, "insert", "skip"))
	result(db.ExecContext(ctx, "fail"))
	rows(db.QueryContext(ctx, "select", 1))
	rows(db.QueryContext(ctx, "select", 1, 2))
	if s, err := db.PrepareContext(ctx, "prepared"); err == nil {
		result(s.ExecContext(ctx, 5))
		rows(s.QueryContext(ctx, 5))
		s.Close()
	}
	for _, o := range []*sql.TxOptions{nil, {ReadOnly: true}, {Isolation: sql.LevelSerializable}} {
		t, err := db.BeginTx(ctx, o)
		see("%v", err)
		if err == nil {
			result(t.ExecContext(ctx, "update", 1))
			see("%v", t.Commit())
		}
	}
	if t, err := db.BeginTx(ctx, nil); err == nil {
		see("%v", t.Rollback())
	}
	return seen
}

// TestSame: whatever interfaces a driver has, the wrapped driver gets the same calls, and the
// program the same results.
func TestSame(t *testing.T) {
	for _, c := range keys(conns) {
		for _, s := range keys(stmts) {
			bare, wrapped := &fake{conn: conns[c], stmt: stmts[s]}, &fake{conn: conns[c], stmt: stmts[s]}
			want := use(t.Context(), sql.OpenDB(bare))
			got := use(t.Context(), sql.OpenDB(scopesql.Connector(wrapped)))
			if !slices.Equal(got, want) {
				t.Errorf("connection %s, statements %s: the program sees\n%s\nwant\n%s", c, s, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if !slices.Equal(wrapped.log, bare.log) {
				t.Errorf("connection %s, statements %s: the driver is called\n%s\nwant\n%s", c, s, strings.Join(wrapped.log, "\n"), strings.Join(bare.log, "\n"))
			}
		}
	}
}

// TestWrap: drivers with and without connectors are opened as without the wrapper.
func TestWrap(t *testing.T) {
	f := &fake{conn: conns["all"], stmt: stmts["plain"]}
	sql.Register("plain+scope", scopesql.Wrap(f))
	sql.Register("context+scope", scopesql.Wrap(fakeContext{f}))
	for name, want := range map[string]string{"plain+scope": "open dsn", "context+scope": "open by a connector"} {
		f.log = nil
		db, err := sql.Open(name, "dsn")
		if err != nil {
			t.Fatal(err)
		}
		if db.Driver() != driver.Driver(f) {
			t.Errorf("%s: the driver is a %T", name, db.Driver())
		}
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(f.log) != 1 || f.log[0] != want {
			t.Errorf("%s: %q, want %s", name, f.log, want)
		}
		if err := c.Raw(func(c any) error {
			if _, ours := scopesql.Unwrap(c).(driver.Validator); scopesql.Unwrap(c) == c || !ours {
				return fmt.Errorf("a %T", scopesql.Unwrap(c))
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		c.Close()
		db.Close()
	}
	if _, err := sql.Open("context+scope", "bad"); err == nil || err.Error() != "no such database" {
		t.Errorf("a bad name: %v", err)
	}
	if got := scopesql.Unwrap(f); got != any(f) {
		t.Errorf("unwrapped is a %T", got)
	}
}

// TestScopes checks what is recorded in a request, the parents, and that no argument is
// recorded.
func TestScopes(t *testing.T) {
	end := recordtest.Begin(t, t.TempDir()+string(filepath.Separator))
	ctx, span := scope.Context(context.Background(), "request")
	f := &fake{conn: conns["all"], stmt: stmts["contexts"]}
	use(ctx, sql.OpenDB(scopesql.Connector(f)))
	skips := sql.OpenDB(scopesql.Connector(&fake{conn: conns["skip"], stmt: stmts["plain"]}))
	if _, err := skips.ExecContext(ctx, "insert", "skipped"); err != nil {
		t.Error(err)
	}
	skips.Close()
	span.End()
	request, _ := scope.LinkOf(ctx)
	end()
	tracetest.Verify(t, scope.Path())
	tr := tracetest.OpenFile(t, scope.Path())
	got := map[string]int{}
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		name := tr.Name(e.Name)
		if e.Kind != format.KindTask || name == "request" {
			continue
		}
		if l, ok := e.Link(); !ok || l.Trace != request.Trace || l.Parent != request.Span {
			t.Errorf("%s has the link %v of %v", name, l, request)
		}
		if e.Open {
			t.Errorf("%s is open", name)
		}
		for _, s := range append(slices.Clone(e.Args), e.EndArgs...) {
			switch s.Type {
			case format.SlotString:
				name += " " + string(s.Str)
			case format.SlotKey:
				name += " " + tr.Name(uint16(s.Value))
			case format.SlotAddr:
			default:
				name += fmt.Sprint(" ", s.Value)
			}
		}
		got[name]++
	}
	want := map[string]int{
		"sql.connect": 2, "sql.ping": 1, "sql.exec statement insert rows 2": 4, "sql.exec statement fail failed 1": 1,
		"sql.query statement select": 2, "sql.prepare statement prepared": 1, "sql.exec statement prepared rows 4": 1,
		"sql.query statement prepared": 1, "sql.begin": 4, "sql.exec statement update rows 2": 3, "sql.commit": 3, "sql.rollback failed 1": 1,
		"sql.exec statement insert skipped 1": 1, "sql.prepare statement insert": 1, "sql.exec statement insert rows 3": 1,
	}
	for _, name := range keys(got) {
		if got[name] != want[name] {
			t.Errorf("%d of %s, want %d", got[name], name, want[name])
		}
		delete(want, name)
	}
	for _, name := range keys(want) {
		t.Errorf("none of %s", name)
	}
}
