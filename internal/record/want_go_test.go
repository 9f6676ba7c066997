//go:build !scope_off && !scope_pure && !scope_nogoid && (scope_noyield || scope_go || race) && linux && (amd64 || arm64)

package record_test

import "github.com/scopeview/scopeview/internal/format"

const wantPath = format.PathGo
