module github.com/scopeview/scopeview/internal/export/perfetto/schematest

go 1.26.0

replace github.com/scopeview/scopeview => ../../../..

require (
	github.com/bufbuild/protocompile v0.14.1
	github.com/scopeview/scopeview v0.0.0-00010101000000-000000000000
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/google/pprof v0.0.0-20261016150608-1facf8f91b50 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/arch v0.32.0 // indirect
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
