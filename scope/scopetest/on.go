//go:build !scope_off

package scopetest

import "github.com/scopeview/scopeview/internal/record"

func named(test string) (name string, args []any) { return record.TestNamed(test) }
