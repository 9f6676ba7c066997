//go:build !scope_off

package scopegrpc_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
)

// record returns what is recorded while f runs, in the order of starts.
func record(t *testing.T, f func(ctx context.Context), opts ...scope.Option) (list []recordtest.Event) {
	t.Helper()
	stop := recordtest.Start(t, opts...)
	f(context.Background())
	for _, e := range stop() {
		if e.Kind == format.KindTask {
			list = append(list, e)
		}
		if e.Open {
			t.Errorf("%s is open", e)
		}
	}
	return list
}

// TestCalls: calls of all kinds are recorded on both sides, and linked as parent and child.
func TestCalls(t *testing.T) {
	list := record(t, func(ctx context.Context) {
		conn, stop, err := serve()
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		ctx, span := scope.Context(ctx, "request")
		defer span.End()
		for _, word := range []string{"hello", "missing", "broken"} {
			if err := say(ctx, conn, "/test.Shop/Add", word); (err == nil) != (word == "hello") {
				t.Errorf("%s: %v", word, err)
			}
		}
		if err := say(ctx, conn, "/test.Shop/Steal", ""); err == nil {
			t.Error("a method that is not there was called")
		}
		stream, err := conn.NewStream(ctx, &shop.Streams[0], "/test.Shop/Chat")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := stream.SendMsg(wrapperspb.String("word")); err != nil {
				t.Fatal(err)
			}
		}
		stream.CloseSend()
		for n := 0; ; n++ {
			var m text
			if err := stream.RecvMsg(&m); err != nil {
				if err != io.EOF || n != 3 {
					t.Errorf("%d words, then %v", n, err)
				}
				break
			}
		}
	})
	want := []struct {
		name, args string
		parent     int
	}{
		{"request", ``, -1},
		{"gRPC /test.Shop/Add", `{"code":"OK","received_bytes":12,"sent_bytes":12}`, 0},
		{"/test.Shop/Add", `{"code":"OK","received_bytes":12,"sent_bytes":12}`, 1},
		{"handler", ``, 2},
		{"gRPC /test.Shop/Add", `{"code":"NotFound","received_bytes":0,"sent_bytes":14,"failed":true}`, 0},
		{"/test.Shop/Add", `{"code":"NotFound","received_bytes":14,"sent_bytes":0}`, 4},
		{"handler", ``, 5},
		{"gRPC /test.Shop/Add", `{"code":"Internal","received_bytes":0,"sent_bytes":13,"failed":true}`, 0},
		{"/test.Shop/Add", `{"code":"Internal","received_bytes":13,"sent_bytes":0,"failed":true}`, 7},
		{"handler", ``, 8},
		{"gRPC /test.Shop/Steal", `{"code":"Unimplemented","received_bytes":0,"sent_bytes":5,"failed":true}`, 0},
		{"gRPC /test.Shop/Chat", `{"code":"OK","received_bytes":33,"sent_bytes":33}`, 0},
		{"/test.Shop/Chat", `{"code":"OK","received_bytes":33,"sent_bytes":33}`, 11},
	}
	if len(list) != len(want) {
		t.Fatalf("recorded is\n%v", list)
	}
	for i, w := range want {
		got := list[i]
		if got.Name != w.name || got.Args != w.args {
			t.Errorf("%d: %s %s, want %s %s", i, got.Name, got.Args, w.name, w.args)
		}
		if w.parent >= 0 && (got.Link.Parent != list[w.parent].Link.Span || got.Link.Trace != list[0].Link.Trace) {
			t.Errorf("%d, %s: its parent is not %s: %v", i, got.Name, want[w.parent].name, got.Link)
		}
	}
}

// TestForeignIDs: a caller determines the ids only by a valid traceparent; a traceparent that
// the program sets itself is sent.
func TestForeignIDs(t *testing.T) {
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, test := range []struct {
		about  string
		values []string
		ok     bool
	}{
		{"good", []string{good}, true}, {"none", nil, false}, {"two", []string{good, good}, false},
		{"no ids", []string{"00-0-0-01"}, false}, {"long", []string{good + strings.Repeat("x", 5000)}, false},
	} {
		t.Run(test.about, func(t *testing.T) {
			list := record(t, func(ctx context.Context) {
				conn, stop, err := serve()
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				for _, v := range test.values {
					ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", v)
				}
				if err := say(ctx, conn, "/test.Shop/Add", "hello"); err != nil {
					t.Error(err)
				}
			}, scope.WithFilter("/test*,handler"))
			if len(list) != 2 {
				t.Fatalf("recorded is %v", list)
			}
			l, _ := scope.ParseTraceparent(good)
			if got := list[0].Link; (got.Trace == l.Trace && got.Parent == l.Span) != test.ok || !got.Valid() {
				t.Errorf("the link is %v", got)
			}
			if list[1].Link.Parent != list[0].Link.Span {
				t.Errorf("the handler's parent is not the call: %v", list)
			}
		})
	}
}

// TestTraceContext: a caller's flags and tracestate are passed on to the calls that its server
// makes, unless the program sets others.
func TestTraceContext(t *testing.T) {
	const own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, test := range []struct {
		about     string
		link      string // in the context; "": none
		state     string
		md        []string // set by the program
		want      string   // the flags, or a traceparent
		wantState string
		opts      []scope.Option
	}{
		{"a new trace", "", "", nil, "00", "", nil},
		{"a new trace that is sampled", "", "", nil, "01", "", []scope.Option{scope.WithSampled()}},
		{"not sampled", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "a=1", nil, "00", "a=1", []scope.Option{scope.WithSampled()}},
		{"sampled", own, "a=1,b=2", nil, "01", "a=1,b=2", nil},
		{"a tracestate of another trace", own, "a=1", []string{"tracestate", "c=3"}, "01", "a=1", nil},
		{"a malformed traceparent", own, "", []string{"traceparent", "x", "tracestate", "c=3"}, "01", "", nil},
		{"the program's own", "00-aaf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "a=1", []string{"traceparent", own, "tracestate", "c=3"}, own, "c=3", nil},
	} {
		t.Run(test.about, func(t *testing.T) {
			record(t, func(ctx context.Context) {
				var served scope.Link
				conn, stop, err := serve(grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
					served, _ = scope.LinkOf(s.Context())
					md, _ := metadata.FromIncomingContext(s.Context())
					if len(md["traceparent"]) != 1 || len(md["tracestate"]) > 1 {
						t.Errorf("sent with %v", md)
					}
					if strings.Contains(test.want, "-") && md["traceparent"][0] != test.want {
						t.Errorf("sent with %v, want %s", md, test.want)
					}
					return echo(nil, s)
				}))
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				if l, ok := scope.ParseTraceparent(test.link); ok {
					l.State = test.state
					ctx = scope.WithLink(ctx, l)
				}
				if err := say(metadata.AppendToOutgoingContext(ctx, test.md...), conn, "/test.Proxy/x", "hello"); err != nil {
					t.Error(err)
				}
				if got := served.Traceparent(); !strings.HasSuffix(got, test.want[len(test.want)-2:]) || served.State != test.wantState {
					t.Errorf("what is served has %s and %q, want the flags %s and %q", got, served.State, test.want, test.wantState)
				}
			}, test.opts...)
		})
	}
}

// TestNamesAreBounded: behind grpc.UnknownServiceHandler, callers choose the methods.
func TestNamesAreBounded(t *testing.T) {
	list := record(t, func(ctx context.Context) {
		conn, stop, err := serve(grpc.UnknownServiceHandler(echo))
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		for i := range 1100 {
			if err := say(ctx, conn, fmt.Sprintf("/test.Proxy/%d", i), "hello"); err != nil {
				t.Fatal(err)
			}
		}
		if err := say(ctx, conn, "/test.Proxy/"+strings.Repeat("x", 500), "hello"); err != nil {
			t.Fatal(err)
		}
	})
	names := map[string]bool{}
	for _, r := range list {
		names[r.Name] = true
	}
	if len(list) != 2*1101 || len(names) > 2*1000+2 || !names["other methods"] || !names["gRPC other methods"] {
		t.Errorf("%d scopes, %d names", len(list), len(names))
	}
}

// TestNotRecording: without a recording, or if names are filtered out, calls pass unchanged.
func TestNotRecording(t *testing.T) {
	call := func(ctx context.Context) {
		conn, stop, err := serve()
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		if err := say(ctx, conn, "/test.Shop/Add", "hello"); err != nil {
			t.Error(err)
		}
	}
	call(t.Context())
	if list := record(t, call, scope.WithFilter("other")); len(list) != 0 {
		t.Errorf("recorded is %v", list)
	}
}
