package scopegrpc

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/scopeview/scopeview/internal/requests"
	"github.com/scopeview/scopeview/scope"
)

// ServerHandler returns a handler that records the calls that a server serves, for
// grpc.StatsHandler.
func ServerHandler() stats.Handler { return server{names: &requests.Bounded{Other: "other methods"}} }

// ClientHandler returns a handler that records the calls that a client makes, for
// grpc.WithStatsHandler.
func ClientHandler() stats.Handler {
	return client{names: &requests.Bounded{Prefix: "gRPC ", Other: "other methods"}}
}

type (
	server struct {
		connections
		names *requests.Bounded
	}
	client struct {
		connections
		names *requests.Bounded
	}
)

// connections ignores the events of connections.
type connections struct{}

func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (connections) HandleConn(context.Context, stats.ConnStats)                       {}

const traceparent, tracestate = "traceparent", "tracestate"

// call is a call of either side. Events of a stream's messages come from several goroutines.
type call struct {
	span           scope.Span
	name           string // of a served call, which begins when its method is known to exist
	link           scope.Link
	received, sent atomic.Int64 // bytes
}

type callKey struct{}

// TagRPC finds the parent of the call. Whether the server has the method is not known yet: if not,
// neither Begin nor End will come.
func (h server) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if !scope.Enabled() {
		return ctx
	}
	c := &call{name: info.FullMethodName}
	var sender scope.Link
	if from := metadata.ValueFromIncomingContext(ctx, traceparent); len(from) == 1 {
		if sender, _ = scope.ParseTraceparent(from[0]); sender.Valid() {
			sender.State = scope.ParseTracestate(metadata.ValueFromIncomingContext(ctx, tracestate))
		}
	}
	c.link = partOf(sender)
	return context.WithValue(scope.WithLink(ctx, c.link), callKey{}, c)
}

// HandleRPC implements stats.Handler.
func (h server) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.Begin:
		if c := callOf(ctx); c != nil {
			c.span = scope.Begin(h.names.Of(c.name), c.link)
		}
	case *stats.End:
		if c := callOf(ctx); c != nil {
			code := status.Code(s.Error)
			c.end(code, blames(code))
		}
	default:
		count(ctx, s)
	}
}

// blames reports whether a code means that the server is to blame, according to OpenTelemetry's
// conventions.
func blames(code codes.Code) bool {
	switch code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		return true
	}
	return false
}

// TagRPC begins the scope of an outgoing call, and sends its ids along.
func (h client) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	if !scope.Enabled() {
		return ctx
	}
	c := &call{}
	within, _ := scope.LinkOf(ctx)
	ctx, c.span = scope.Context(ctx, h.names.Of(info.FullMethodName))
	if l, ok := scope.LinkOf(ctx); ok && l.Span != [8]byte{} {
		ctx = sending(ctx, l, within)
	}
	return context.WithValue(ctx, callKey{}, c)
}

// sending returns a context whose call carries l, a child of within, in its metadata, unless the
// program has set another traceparent.
func sending(ctx context.Context, l, within scope.Link) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	if !carriesIDs(md[traceparent], within) {
		return ctx
	}
	if len(md[traceparent])+len(md[tracestate]) > 0 {
		delete(md, traceparent) // md is a copy
		delete(md, tracestate)
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	if l.State == "" {
		return metadata.AppendToOutgoingContext(ctx, traceparent, l.Traceparent())
	}
	return metadata.AppendToOutgoingContext(ctx, traceparent, l.Traceparent(), tracestate, l.State)
}

// HandleRPC implements stats.Handler.
func (client) HandleRPC(ctx context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.End:
		if c := callOf(ctx); c != nil {
			code := status.Code(s.Error)
			c.end(code, code != codes.OK)
		}
	default:
		count(ctx, s)
	}
}

// callOf returns the call that TagRPC stored, or nil.
func callOf(ctx context.Context) *call {
	if !scope.Enabled() {
		return nil
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// count adds a message's bytes.
func count(ctx context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InPayload:
		if c := callOf(ctx); c != nil {
			c.received.Add(int64(s.WireLength))
		}
	case *stats.OutPayload:
		if c := callOf(ctx); c != nil {
			c.sent.Add(int64(s.WireLength))
		}
	}
}

// end ends the call's scope. An end has room for four arguments.
func (c *call) end(code codes.Code, failed bool) {
	args := [4]any{scope.KV("code", codeName(code)), scope.KV("received_bytes", c.received.Load()), scope.KV("sent_bytes", c.sent.Load()), scope.KV("failed", true)}
	if failed {
		c.span.End(args[:]...)
		return
	}
	c.span.End(args[:3]...)
}

// codeName returns the name of a code known to gRPC: a server may send any number.
func codeName(code codes.Code) string {
	if code > codes.Unauthenticated {
		return "other code"
	}
	return code.String()
}
