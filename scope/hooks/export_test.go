//go:build !scope_off

package hooks

// Exit is a hook called by the standard library.
var Exit = exit

// BegunByGo reports which processes of a test record.
var BegunByGo = begunByGo
