//go:build linux && (amd64 || arm64) && !race && !scope_off && !scope_pure && !scope_nogoid && !scope_noyield && !scope_go

package record_test

import "github.com/scopeview/scopeview/internal/format"

const wantPath = format.PathAssembly
