// Package scopegrpc records a program's gRPC calls: a scope for each call that it serves or makes,
// unary or streaming.
//
//	server := grpc.NewServer(grpc.StatsHandler(scopegrpc.ServerHandler()))
//	conn, err := grpc.NewClient(target, grpc.WithStatsHandler(scopegrpc.ClientHandler()))
//
// The scope of a served call has the name of its full method, "/shop.Cart/Add", and that of an
// outgoing call "gRPC /shop.Cart/Add". Each attempt of a call that gRPC retries is a scope. The
// metadata carry the ids and flags as traceparent, and the tracestate that came in, so that a
// request can be followed across processes: the served call is a child of the outgoing one. If the
// program sets a valid traceparent itself, that is sent.
//
// The arguments are code, received_bytes and sent_bytes (all messages as on the wire, with gRPC's
// five-byte prefix, without HTTP's framing), and failed: true if the call failed. A served call
// failed if the server is to blame: Unknown, DeadlineExceeded, Unimplemented, Internal,
// Unavailable, DataLoss. Messages, metadata and error texts are not recorded.
//
// Clients can't fill the table of names: calls of methods that a server does not have are not
// recorded, and only the first 1,000 methods behind grpc.UnknownServiceHandler have names.
package scopegrpc
