package otlp

import (
	"fmt"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
)

// TestMeaning: records of our integrations are recognized, and similar ones are not.
func TestMeaning(t *testing.T) {
	text := func(key, v string) args.Arg {
		return args.Arg{Key: key, Value: format.Slot{Type: format.SlotString, Str: []byte(v)}}
	}
	number := func(key string, v uint64) args.Arg {
		return args.Arg{Key: key, Value: format.Slot{Type: format.SlotInt, Value: v}}
	}
	yes := func(key string) args.Arg {
		return args.Arg{Key: key, Value: format.Slot{Type: format.SlotBool, Value: 1}}
	}
	path := text("path", "/x")
	for _, test := range []struct {
		name   string
		list   []args.Arg
		want   string // kind, failed, more
		linked bool
	}{
		{"GET /x", []args.Arg{path, number("status", 500)}, "2 true [[http.request.method GET] [error.type 500]]", true},
		{"GET /x", []args.Arg{path, number("status", 500), yes("panicked")}, "2 true [[http.request.method GET] [error.type panic]]", true},
		{"GET /x/{id}", []args.Arg{path, text("route", "/y/{id}")}, "2 false [[http.request.method GET]]", true},
		{"PROPFIND /x", []args.Arg{path, number("status", 207)}, "2 false [[http.request.method _OTHER]]", true},
		{"PROPFIND /x", []args.Arg{path}, "1 false []", true},
		{"GET /x", []args.Arg{number("status", 500)}, "1 false []", true},
		{"GET /x", []args.Arg{path, number("status", 500)}, "1 false []", false},
		{"load a/b", []args.Arg{path, number("status", 500)}, "1 false []", true},
		{"/shop.Cart/Add", []args.Arg{text("code", "Internal"), number("received_bytes", 1), yes("failed")}, "2 true [[rpc.system.name grpc] [rpc.method shop.Cart/Add] [error.type INTERNAL]]", true},
		{"gRPC /shop.Cart/Add", []args.Arg{text("code", "OK"), number("received_bytes", 1)}, "3 false [[rpc.system.name grpc] [rpc.method shop.Cart/Add]]", true},
		{"other methods", []args.Arg{text("code", "OK"), number("received_bytes", 1)}, "2 false [[rpc.system.name grpc]]", true},
		{"sql.query", []args.Arg{text("statement", "select 1"), yes("failed")}, "3 true [[db.system.name other_sql] [error.type _OTHER]]", true},
		{"mine", []args.Arg{yes("failed")}, "1 true []", false},
		{"orders", []args.Arg{text("messaging.operation.type", "send"), yes("failed")}, "4 true []", true},
		{"orders", []args.Arg{text("messaging.operation.type", "process")}, "5 false []", true},
		{"orders", []args.Arg{text("messaging.operation.type", "guess")}, "1 false []", true},
		{"orders", []args.Arg{text("messaging.system", "kafka")}, "1 false []", true},
	} {
		m := meaningOf(test.name, test.linked, test.list)
		if got := fmt.Sprint(m.kind, m.failed, m.more); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
	for code, want := range map[string]string{"OK": "OK", "DeadlineExceeded": "DEADLINE_EXCEEDED", "Canceled": "CANCELLED", "Internal": "INTERNAL"} {
		if got := grpcStatus(code); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
}
