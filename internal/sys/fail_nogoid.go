//go:build scope_nogoid

package sys

const failGoid = true
