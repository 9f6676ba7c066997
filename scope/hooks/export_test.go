//go:build !scope_off

package hooks

// Exit is what a hook in the standard library calls.
var Exit = exit

// BegunByGo says which processes of a test record.
var BegunByGo = begunByGo
