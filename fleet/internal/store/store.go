// Package store accesses the files of a fleet: in a directory, or in a bucket of an
// S3-compatible object store. A file exists completely or not at all.
package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// Object is a file of a store.
type Object struct {
	Key  string // with slashes, from the store's root
	Size int64
	Time time.Time // when it was written
}

// Store stores files.
type Store interface {
	// Stage returns a path for writing a file, near its destination.
	Stage(key string) (string, error)
	// Put moves a staged file to key atomically.
	Put(ctx context.Context, staged, key string) error
	// List lists the files below a prefix, which ends in a slash or is empty, by key.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Get copies a file to a path that does not exist.
	Get(ctx context.Context, key, to string) error
	String() string
}

// Open returns the store at a place: a directory, or s3://bucket/prefix.
func Open(place string) (Store, error) {
	if err := Check(place); err != nil {
		return nil, err
	}
	if Remote(place) {
		return openS3(place)
	}
	return dir(place), nil
}

// Remote reports whether a place is in an object store.
func Remote(place string) bool { return strings.HasPrefix(place, "s3:") }

// Check returns an error if a place is malformed.
func Check(place string) error {
	switch {
	case Remote(place):
		_, _, err := parseS3(place)
		return err
	case strings.Contains(place, "://"): // not quoted: it may contain a password
		return errors.New("the place of the tables is an address that is neither a directory nor s3://bucket/prefix")
	case place == "":
		return errors.New("the place of the tables is empty: give a directory, or s3://bucket/prefix")
	}
	return nil
}

// dir is a directory.
type dir string

func (d dir) String() string { return string(d) }

func (d dir) path(key string) string { return filepath.Join(string(d), filepath.FromSlash(key)) }

func (d dir) Stage(key string) (string, error) {
	p := d.path(key)
	if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
		return "", fmt.Errorf("making a directory of the tables: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(p), ".*.tmp")
	if err != nil {
		return "", fmt.Errorf("making a file of the tables: %w", err)
	}
	if err := f.Chmod(0o644); err != nil {
		return "", errors.Join(err, f.Close())
	}
	return f.Name(), f.Close()
}

func (d dir) Put(_ context.Context, staged, key string) error {
	if err := os.Rename(staged, d.path(key)); err != nil {
		return fmt.Errorf("naming a file of the tables: %w", err)
	}
	return nil
}

func (d dir) List(ctx context.Context, prefix string) (list []Object, err error) {
	err = filepath.WalkDir(d.path(prefix), func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case e.IsDir(), strings.HasPrefix(e.Name(), "."):
			return ctx.Err()
		}
		st, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(string(d), p)
		list = append(list, Object{Key: filepath.ToSlash(rel), Size: st.Size(), Time: st.ModTime()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the tables in %s: %w", d, err)
	}
	return list, nil
}

func (d dir) Get(context.Context, string, string) error {
	return errors.New("files of a directory are read where they are")
}

// Local returns the directory of a store that is one.
func Local(s Store) (string, bool) {
	d, ok := s.(dir)
	return string(d), ok
}

// Part returns name=value as an element of a path, in the form of Hive, DuckDB and Trino:
// bytes other than ASCII letters, digits and -_. become %XX. A long value is truncated, and
// an empty one becomes unknown.
func Part(name, value string) string {
	const most = 128
	if value == "" {
		value = "unknown"
	}
	value = value[:min(len(value), most)]
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte('=')
	for _, c := range []byte(value) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// Key joins parts of a key.
func Key(parts ...string) string { return path.Join(parts...) }
