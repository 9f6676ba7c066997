//go:build !race

package mmpool

const raceBuild = false
