//go:build !scope_off

package html_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scopeview/scopeview/export/html"
	"github.com/scopeview/scopeview/scope"
)

// ExampleWrite is a program that writes its own recording as a page.
func ExampleWrite() {
	dir, err := os.MkdirTemp("", "traces")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := scope.Start(filepath.Join(dir, "x.scope")); err != nil {
		fmt.Println(err)
		return
	}
	scope.Task("parse")()
	if err := scope.Stop(); err != nil {
		fmt.Println(err)
		return
	}
	var page bytes.Buffer
	err = html.Write(context.Background(), &page, scope.Path())
	fmt.Println(err, bytes.HasPrefix(page.Bytes(), []byte("<!doctype html>")))
	// Output: <nil> true
}
