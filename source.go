// Package scopeview is the source of the recorder, for the tool that builds it into programs
// which do not import it (internal/build).
package scopeview

import "embed"

// Source has the packages that programs import to record, their dependencies in this module, and
// go.mod and go.sum for those in other modules. It includes their tests.
//
//go:embed go.mod go.sum
//go:embed flusher/*.go mmpool/*.go sweeper/*.go scope/*.go scope/hooks/*.go scope/auto/*.go scope/containers/*.go scope/gotrace/*.go scope/scopehttp/*.go scope/scopesql/*.go scope/scopepprof/*.go scope/scopeslog/*.go scope/scopetest/*.go scope/scopehttp/*.css
//go:embed internal/advice/count/*.go internal/advice/custom/*.go internal/advice/row/*.go
//go:embed internal/chunks/*.go internal/collect/*.go internal/format/*.go internal/fromenv/*.go internal/glob/*.go internal/heartbeat/*.go internal/hot/*.go
//go:embed internal/newfile/*.go internal/perf/*.go internal/pool/*.go internal/record/*.go internal/requests/*.go internal/snapshot/*.go internal/sys/*.go internal/sys/*.s internal/testpoint/*.go internal/unwind/*.go
var Source embed.FS
