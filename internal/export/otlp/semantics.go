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

// spanKind is OTLP's number of a span's kind.
type spanKind byte

const (
	kindInternal spanKind = 1
	kindServer   spanKind = 2
	kindClient   spanKind = 3
	kindProducer spanKind = 4
	kindConsumer spanKind = 5
)

// Names of OpenTelemetry's semantic conventions. A test of scope/scopeotel, which has them as Go
// constants, compares.
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

// meaning is what a scope of one of our integrations is to OpenTelemetry.
type meaning struct {
	kind   spanKind
	failed bool              // its status is Error
	names  map[string]string // of arguments that the conventions have, by ours; empty: they are left out
	more   [][2]string       // attributes that no argument is
	port   int64             // server.port; 0: none
}

var (
	served = map[string]string{"path": attrPath, "status": attrStatus, "bytes": attrSize, "route": attrRoute, "pattern": attrRoute}
	asked  = map[string]string{"path": attrPath, "status": attrStatus, "error": attrErrorType}
	rpc    = map[string]string{"code": attrRPCStatus}
	otel   = map[string]string{spanKindKey: ""}
	sql    = map[string]string{"statement": attrDBQuery}
)

// messages are the kinds of what a program says that it does with messages, in the conventions' own
// words: none of our integrations sends any.
var messages = map[string]spanKind{"create": kindProducer, "send": kindProducer, "receive": kindClient, "settle": kindClient, "process": kindConsumer}

// spanKinds are the kinds by the texts that args has for what scopeotel recorded.
var spanKinds = map[string]spanKind{"server": kindServer, "client": kindClient, "producer": kindProducer, "consumer": kindConsumer}

// spanKindKey is the argument that has one: the span has it, and no attribute.
const spanKindKey = "span.kind"

// statements are the scopes of scopesql.
var statements = []string{"sql.query", "sql.exec", "sql.prepare", "sql.begin", "sql.commit", "sql.rollback", "sql.ping", "sql.connect"}

// meaningOf recognizes a scope that scopehttp, the hooks of scopeview run, scopegrpc or scopesql
// made, by its name and its arguments. Any other is internal, unless it says that it is about a
// message, and keeps its arguments' keys.
func meaningOf(name string, linked bool, list []args.Arg) meaning {
	m := meaning{kind: kindInternal}
	if v := find(list, "failed", format.SlotBool); v != nil && v.Value != 0 {
		m.failed = true
	}
	if !linked {
		return m
	}
	if v := find(list, spanKindKey, format.SlotString); v != nil && spanKinds[string(v.Str)] != 0 { // OpenTelemetry's own
		m.kind, m.names = spanKinds[string(v.Str)], otel
		return m
	}
	if v := find(list, attrOperation, format.SlotString); v != nil {
		m.kind = max(m.kind, messages[string(v.Str)])
		return m
	}
	switch host, isAsked := strings.CutPrefix(name, "HTTP "); {
	case slices.Contains(statements, name):
		m.kind, m.names, m.more = kindClient, sql, [][2]string{{attrDBSystem, "other_sql"}} // which one the driver does not say
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

// rpc is of a scope of scopegrpc.
func (m *meaning) rpc(name, code string) {
	method, client := strings.CutPrefix(name, "gRPC ")
	if m.kind, m.names = kindServer, rpc; client {
		m.kind = kindClient
	}
	m.more = [][2]string{{attrRPCSystem, "grpc"}}
	if method, ok := strings.CutPrefix(method, "/"); ok { // else it is one of "other methods"
		m.more = append(m.more, [2]string{attrRPCMethod, method})
	}
	if m.failed {
		m.more = append(m.more, [2]string{attrErrorType, grpcStatus(code)})
	}
}

// asked is of a request that was sent: "GET example.com:80" is behind the name's prefix.
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

// served is of a request that was served: "GET /users/{id}".
func (m *meaning) served(name string, list []args.Arg) {
	method, pattern, ok := strings.Cut(name, " ")
	if !ok || method == "" || name == "other requests" || strings.ToUpper(method) != method || !strings.Contains(pattern, "/") {
		return
	}
	known := knownMethod(method)
	if known == attrValueOther && find(list, "status", format.SlotInt) == nil {
		return // a name of the program's own may look so
	}
	m.kind, m.names = kindServer, served
	m.more = append(m.more, [2]string{attrMethod, known})
	told := slices.ContainsFunc(list, func(a args.Arg) bool { return served[a.Key] == attrRoute })
	if !told && strings.Contains(pattern, "{") { // another may be what the path begins with
		m.more = append(m.more, [2]string{attrRoute, pattern})
	}
	if v := find(list, "panicked", format.SlotBool); v != nil && v.Value != 0 { // whatever it had answered
		m.failed = true
		m.more = append(m.more, [2]string{attrErrorType, "panic"})
		return
	}
	m.status(list, 500)
}

// status takes in an HTTP status: from the first of a class on it is an error.
func (m *meaning) status(list []args.Arg, from int64) {
	if v := find(list, "status", format.SlotInt); v != nil && v.Int() >= from {
		m.failed = true
		m.more = append(m.more, [2]string{attrErrorType, strconv.FormatInt(v.Int(), 10)})
	}
}

// knownMethod is a method as the conventions have it: one that anybody may make up is _OTHER.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace, "QUERY":
		return method
	}
	return attrValueOther
}

// exceptionOf returns the attribute by which the conventions tell of the error that a scope was ended
// with: its type, or its text, whichever there is. A panic's is in no record.
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

// grpcStatus is a code's name as the conventions have it: DEADLINE_EXCEEDED for DeadlineExceeded.
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
