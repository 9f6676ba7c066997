//go:build !scope_off && !race

package scope

const raceBuild = false

// setWord stores a word that a later atomic store publishes.
func setWord(p *uint64, v uint64) { *p = v }
