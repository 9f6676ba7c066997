package main

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// TestCopies: of an object store no more is copied than is allowed, what is gone there goes
// here, and no key gets out of the directory for copies.
func TestCopies(t *testing.T) {
	needDuckDB(t)
	fake := httptest.NewServer(gofakes3.New(s3mem.New(), gofakes3.WithAutoBucket(true)).Server())
	defer fake.Close()
	cache := t.TempDir()
	for k, v := range map[string]string{
		"AWS_ENDPOINT_URL": fake.URL, "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1",
		"XDG_CACHE_HOME": filepath.Join(cache, "deep"),
	} {
		t.Setenv(k, v)
	}
	const place = "s3://traces"
	must(t, "parquet", plant(t), "-o", place, "--tables", "durations")
	if _, _, err := call(t, "sql", "p99-by-build", "-d", place, "--most", "0"); err == nil || !strings.Contains(err.Error(), "--most allows 0") {
		t.Errorf("%v", err)
	}
	u, err := url.Parse(fake.URL)
	if err != nil {
		t.Fatal(err)
	}
	c, err := minio.New(u.Host, &minio.Options{Creds: credentials.NewStaticV4("k", "s", "")})
	if err != nil {
		t.Fatal(err)
	}
	evil := "durations/service=shop/date=2023-11-14/host=h/" + strings.Repeat("../", 12) + "evil.parquet"
	if _, err := c.PutObject(t.Context(), "traces", evil, strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil {
		t.Log("the store itself refuses such a key:", err)
	}
	count := func() float64 {
		rows := answers(t, "p99-by-build", "-d", place, "--set", "name=handle", "--set", "service=shop", "--set", "since=2023-11-14")
		if len(rows) != 2 {
			t.Fatalf("%v", rows)
		}
		return rows[0]["n"].(float64) + rows[1]["n"].(float64)
	}
	if n := count(); n != 8*200 {
		t.Errorf("%g scopes", n)
	}
	for o := range c.ListObjects(t.Context(), "traces", minio.ListObjectsOptions{Prefix: "durations/", Recursive: true}) {
		if o.Err == nil && strings.Contains(o.Key, "host=host-7") {
			o.Err = c.RemoveObject(t.Context(), "traces", o.Key, minio.RemoveObjectOptions{})
		}
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	if n := count(); n != 7*200 {
		t.Errorf("%g scopes after one host was removed", n)
	}
	err = filepath.WalkDir(cache, func(p string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(p, "evil.parquet") {
			t.Errorf("%s was written", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
