//go:build race

package mmpool

const raceBuild = true
