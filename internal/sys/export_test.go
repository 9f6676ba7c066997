//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

// Park is for tests that need the recorder, which this package may not import.
var Park = park
