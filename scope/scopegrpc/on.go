//go:build !scope_off

package scopegrpc

import (
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

func partOf(l scope.Link) scope.Link                      { return record.PartOf(l) }
func carriesIDs(headers []string, within scope.Link) bool { return record.CarriesIDs(headers, within) }
