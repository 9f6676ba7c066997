package scopegrpc_test

import (
	"context"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/scopegrpc"
)

type text = wrapperspb.StringValue

// shop is a service without generated code: Add returns its message, Chat all of its
// messages. A message that begins with "fail" fails.
var shop = grpc.ServiceDesc{
	ServiceName: "test.Shop",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Add", Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var in text
		if err := decode(&in); err != nil {
			return nil, err
		}
		_, span := scope.Context(ctx, "handler")
		defer span.End()
		switch in.GetValue() {
		case "missing":
			return nil, status.Error(codes.NotFound, "secret")
		case "broken":
			return nil, status.Error(codes.Internal, "secret")
		}
		return &in, nil
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Chat", ClientStreams: true, ServerStreams: true, Handler: echo}},
}

func echo(_ any, stream grpc.ServerStream) error {
	for {
		var in text
		err := stream.RecvMsg(&in)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = stream.SendMsg(&in)
		}
		if err != nil {
			return err
		}
	}
}

// serve serves shop, and returns a client and a function that ends both.
func serve(o ...grpc.ServerOption) (*grpc.ClientConn, func(), error) {
	server := grpc.NewServer(append(o, grpc.StatsHandler(scopegrpc.ServerHandler()))...)
	server.RegisterService(&shop, nil)
	l := bufconn.Listen(1 << 16)
	done := make(chan struct{})
	go func() { server.Serve(l); close(done) }()
	conn, err := grpc.NewClient("passthrough:///shop", grpc.WithStatsHandler(scopegrpc.ClientHandler()), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		return nil, nil, err
	}
	return conn, func() { conn.Close(); server.GracefulStop(); <-done }, nil
}

func say(ctx context.Context, conn *grpc.ClientConn, method, word string) error {
	return conn.Invoke(ctx, method, wrapperspb.String(word), &text{})
}
