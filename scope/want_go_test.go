//go:build !scope_off && !scope_pure && ((!scope_nogoid && linux && arm64) || ((scope_noyield || scope_go || race) && !scope_nogoid && linux && amd64))

package scope

import "github.com/scopeview/scopeview/internal/format"

const wantPath = format.PathGo
