//go:build !scope_off && (scope_pure || scope_nogoid || !linux || !(amd64 || arm64))

package record_test

import "github.com/scopeview/scopeview/internal/format"

const wantPath = format.PathPure
