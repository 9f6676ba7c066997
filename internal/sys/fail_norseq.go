//go:build scope_norseq

package sys

const failRseq = true
