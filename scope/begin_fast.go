//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race && !scope_off

package scope

import "github.com/scopeview/scopeview/internal/sys"

// beginAny begins a scope by the assembly, which calls begin where it can't.
func beginAny(head uint64, name string, args []any) handle { return sys.Begin(head, name, args) }

// handle is a scope that was begun. Its End is the assembly's too.
type handle = sys.Handle

func init() { sys.OnMiss(begin, endNow) }
