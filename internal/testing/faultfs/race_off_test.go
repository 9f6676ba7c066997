//go:build !race

package faultfs_test

const raceBuild = false
