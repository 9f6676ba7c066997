//go:build scope_off

package scopegrpc

import "github.com/scopeview/scopeview/scope"

func partOf(scope.Link) scope.Link         { return scope.Link{} }
func carriesIDs([]string, scope.Link) bool { return false }
