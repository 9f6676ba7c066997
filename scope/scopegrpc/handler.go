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

// ServerHandler records the calls that a server serves, for grpc.StatsHandler.
func ServerHandler() stats.Handler { return server{names: &requests.Bounded{Other: "other methods"}} }

// ClientHandler records the calls that a client makes, for grpc.WithStatsHandler.
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

// connections are not recorded.
type connections struct{}

func (connections) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (connections) HandleConn(context.Context, stats.ConnStats)                       {}

const traceparent, tracestate = "traceparent", "tracestate"

// call is one of either side. Messages of a stream are told from several goroutines.
type call struct {
	span           scope.Span
	name           string // of one that is served: it begins when its method is known to be there
	link           scope.Link
	received, sent atomic.Int64 // bytes
}

type callKey struct{}

// TagRPC finds out whose part the call is. That the server has the method is not known yet:
// if it has not, no Begin and no End will come.
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

// blames reports whether a code says that the server is to blame, as OpenTelemetry's
// conventions have it.
func blames(code codes.Code) bool {
	switch code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		return true
	}
	return false
}

// TagRPC begins the scope of a call that is made, and sends its ids along.
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

// sending returns a context whose call tells its receiver of l, which is part of within, unless the
// program has done so.
func sending(ctx context.Context, l, within scope.Link) context.Context {
	md, _ := metadata.FromOutgoingContext(ctx)
	if !tells(md[traceparent], within) {
		return ctx
	}
	if len(md[traceparent])+len(md[tracestate]) > 0 {
		delete(md, traceparent) // of a copy
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

// callOf returns the call that TagRPC began, or nil.
func callOf(ctx context.Context) *call {
	if !scope.Enabled() {
		return nil
	}
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// count takes in a message.
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

// codeName is the name of a code that gRPC knows: a server may send any number.
func codeName(code codes.Code) string {
	if code > codes.Unauthenticated {
		return "other code"
	}
	return code.String()
}
