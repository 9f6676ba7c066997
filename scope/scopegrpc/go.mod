module github.com/scopeview/scopeview/scope/scopegrpc

go 1.26.0

replace github.com/scopeview/scopeview => ../..

require (
	github.com/scopeview/scopeview v0.0.0-00010101000000-000000000000
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/edsrzf/mmap-go v1.2.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/prometheus/procfs v0.23.0 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
)
