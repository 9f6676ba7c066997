// Package scopegrpc records what a program does by gRPC: a scope for each call that it
// serves or makes, unary or a stream.
//
//	server := grpc.NewServer(grpc.StatsHandler(scopegrpc.ServerHandler()))
//	conn, err := grpc.NewClient(target, grpc.WithStatsHandler(scopegrpc.ClientHandler()))
//
// A call that is served is called by its full method, "/shop.Cart/Add", and one that is made
// "gRPC /shop.Cart/Add". Each attempt of a call that gRPC tries again is a scope. The ids go
// along as traceparent in the metadata, with the flags of the trace, and tracestate as it came in,
// so that one request can be followed over processes: what is served is part of what is made.
// Where the program sets a valid traceparent itself, that is sent.
//
// The arguments are code, received_bytes and sent_bytes (messages as they go over the wire,
// with gRPC's five bytes before each, without HTTP's; of a stream all of them), and failed:
// true where the call failed. Of what is served that is where the server is to blame:
// Unknown, DeadlineExceeded, Unimplemented, Internal, Unavailable, DataLoss. Messages,
// metadata and errors' texts are not recorded.
//
// Clients can't fill the table of names: calls of methods that a server does not have are
// not recorded, and of those behind grpc.UnknownServiceHandler the first 1,000 have names.
package scopegrpc
