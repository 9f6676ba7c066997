package otlp

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// spanKind is OTLP's number for the kind of a span.
type spanKind byte

const (
	kindInternal spanKind = 1
	kindServer   spanKind = 2
	kindClient   spanKind = 3
	kindProducer spanKind = 4
	kindConsumer spanKind = 5
)

// Names from OpenTelemetry's semantic conventions. A test of scope/scopeotel, which has them
// as Go constants, compares the two.
const (
	attrMethod     = "http.request.method"
	attrStatus     = "http.response.status_code"
	attrRoute      = "http.route"
	attrSize       = "http.response.body.size"
	attrPath       = "url.path"
	attrServer     = "server.address"
	attrPort       = "server.port"
	attrRPCSystem  = "rpc.system.name"
	attrRPCMethod  = "rpc.method"
	attrRPCStatus  = "rpc.response.status_code"
	attrDBSystem   = "db.system.name"
	attrDBQuery    = "db.query.text"
	attrErrorType  = "error.type"
	attrOperation  = "messaging.operation.type"
	attrException  = "exception.type"
	attrMessage    = "exception.message"
	eventException = "exception"
	attrValueOther = "_OTHER"
)

// meaning describes a scope of one of our integrations in OpenTelemetry's terms.
type meaning struct {
	kind   spanKind
	failed bool              // the status is Error
	names  map[string]string // the conventions' names of arguments, by ours; empty: left out
	more   [][2]string       // attributes that are no arguments
	port   int64             // server.port; 0: none
}

var (
	served = map[string]string{"path": attrPath, "status": attrStatus, "bytes": attrSize, "route": attrRoute, "pattern": attrRoute}
	asked  = map[string]string{"path": attrPath, "status": attrStatus, "error": attrErrorType}
	rpc    = map[string]string{"code": attrRPCStatus}
	otel   = map[string]string{spanKindKey: ""}
	sql    = map[string]string{"statement": attrDBQuery}
)

// messages are the span kinds of messaging operations by the conventions' names: a program
// may set them, none of our integrations does.
var messages = map[string]spanKind{"create": kindProducer, "send": kindProducer, "receive": kindClient, "settle": kindClient, "process": kindConsumer}

// spanKinds are the kinds by the argument's text, as scopeotel records it.
var spanKinds = map[string]spanKind{"server": kindServer, "client": kindClient, "producer": kindProducer, "consumer": kindConsumer}

// spanKindKey is the argument with the kind: it sets the span's kind and is no attribute.
const spanKindKey = "span.kind"

// statements are the names of scopesql's scopes.
var statements = []string{"sql.query", "sql.exec", "sql.prepare", "sql.begin", "sql.commit", "sql.rollback", "sql.ping", "sql.connect"}

// meaningOf recognizes a scope of scopehttp, the hooks of scopeview run, scopegrpc or
// scopesql by its name and its arguments. Any other one is internal, unless its arguments
// name a messaging operation, and keeps its arguments' keys.
func meaningOf(name string, linked bool, list []args.Arg) meaning {
	m := meaning{kind: kindInternal}
	if v := find(list, "failed", format.SlotBool); v != nil && v.Value != 0 {
		m.failed = true
	}
	if !linked {
		return m
	}
	if v := find(list, spanKindKey, format.SlotString); v != nil && spanKinds[string(v.Str)] != 0 { // recorded by scopeotel
		m.kind, m.names = spanKinds[string(v.Str)], otel
		return m
	}
	if v := find(list, attrOperation, format.SlotString); v != nil {
		m.kind = max(m.kind, messages[string(v.Str)])
		return m
	}
	switch host, isAsked := strings.CutPrefix(name, "HTTP "); {
	case slices.Contains(statements, name):
		m.kind, m.names, m.more = kindClient, sql, [][2]string{{attrDBSystem, "other_sql"}} // the driver's database is not known
		if m.failed {
			m.more = append(m.more, [2]string{attrErrorType, attrValueOther})
		}
	case find(list, "code", format.SlotString) != nil && find(list, "received_bytes", format.SlotInt) != nil:
		m.rpc(name, string(find(list, "code", format.SlotString).Str))
	case find(list, "path", format.SlotString) == nil:
	case isAsked:
		m.asked(host, list)
	default:
		m.served(name, list)
	}
	return m
}

// rpc sets the meaning of a scope of scopegrpc.
func (m *meaning) rpc(name, code string) {
	method, client := strings.CutPrefix(name, "gRPC ")
	if m.kind, m.names = kindServer, rpc; client {
		m.kind = kindClient
	}
	m.more = [][2]string{{attrRPCSystem, "grpc"}}
	if method, ok := strings.CutPrefix(method, "/"); ok { // otherwise it is "other methods"
		m.more = append(m.more, [2]string{attrRPCMethod, method})
	}
	if m.failed {
		m.more = append(m.more, [2]string{attrErrorType, grpcStatus(code)})
	}
}

// asked sets the meaning of an outgoing request; name is "GET example.com:80", without the
// prefix.
func (m *meaning) asked(name string, list []args.Arg) {
	method, host, ok := strings.Cut(name, " ")
	if !ok {
		return
	}
	m.kind, m.names = kindClient, asked
	m.more = append(m.more, [2]string{attrMethod, knownMethod(method)})
	if address, port, err := net.SplitHostPort(host); err == nil {
		m.port, _ = strconv.ParseInt(port, 10, 64)
		host = address
	}
	if host != "" && host != "…" {
		m.more = append(m.more, [2]string{attrServer, strings.Trim(host, "[]")})
	}
	m.status(list, 400)
	m.failed = m.failed || slices.ContainsFunc(list, func(a args.Arg) bool { return a.Key == "error" })
}

// served sets the meaning of an incoming request: "GET /users/{id}".
func (m *meaning) served(name string, list []args.Arg) {
	method, pattern, ok := strings.Cut(name, " ")
	if !ok || method == "" || name == "other requests" || strings.ToUpper(method) != method || !strings.Contains(pattern, "/") {
		return
	}
	known := knownMethod(method)
	if known == attrValueOther && find(list, "status", format.SlotInt) == nil {
		return // a program's own name may have the same form
	}
	m.kind, m.names = kindServer, served
	m.more = append(m.more, [2]string{attrMethod, known})
	hasRoute := slices.ContainsFunc(list, func(a args.Arg) bool { return served[a.Key] == attrRoute })
	if !hasRoute && strings.Contains(pattern, "{") { // without a variable it may be only the beginning of the path
		m.more = append(m.more, [2]string{attrRoute, pattern})
	}
	if v := find(list, "panicked", format.SlotBool); v != nil && v.Value != 0 { // whatever the response was
		m.failed = true
		m.more = append(m.more, [2]string{attrErrorType, "panic"})
		return
	}
	m.status(list, 500)
}

// status reads an HTTP status: it is an error if it is at least from.
func (m *meaning) status(list []args.Arg, from int64) {
	if v := find(list, "status", format.SlotInt); v != nil && v.Int() >= from {
		m.failed = true
		m.more = append(m.more, [2]string{attrErrorType, strconv.FormatInt(v.Int(), 10)})
	}
}

// knownMethod returns a method as in the conventions: _OTHER for unknown ones.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY":
		return method
	}
	return attrValueOther
}

// exceptionOf returns the conventions' attribute for the error that a scope ended with: its
// type, or its text, whichever was recorded. Panics are not recorded.
func exceptionOf(e *trace.Event, name func(uint16) string) (key, value string) {
	for i := 1; i < len(e.EndArgs); i++ {
		s, k := &e.EndArgs[i], &e.EndArgs[i-1]
		if k.Type != format.SlotKey || len(s.Str) == 0 {
			continue
		}
		if of := name(uint16(k.Value)); of != "error" && of != "err" {
			continue
		}
		switch {
		case s.Type == format.SlotString:
			return attrMessage, string(s.Str)
		case s.Type == format.SlotType_ && string(s.Str) != "nil":
			return attrException, string(s.Str)
		}
	}
	return "", ""
}

// find returns the value of the argument key, if it has that type, or nil.
func find(list []args.Arg, key string, t format.SlotType) *format.Slot {
	for i := range list {
		if list[i].Key == key && list[i].Value.Type == t {
			return &list[i].Value
		}
	}
	return nil
}

// grpcStatus returns a code's name as in the conventions: DEADLINE_EXCEEDED for
// DeadlineExceeded.
func grpcStatus(code string) string {
	switch code {
	case "OK":
		return code
	case "Canceled":
		return "CANCELLED"
	}
	var b strings.Builder
	for i, c := range code {
		if i > 0 && 'A' <= c && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(strings.ReplaceAll(b.String(), " ", "_"))
}
