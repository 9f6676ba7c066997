//go:build !linux

package sys

func reserve[T any](int) ([]T, error) { return nil, ErrNoMap }
func release[T any]([]T)              {}
