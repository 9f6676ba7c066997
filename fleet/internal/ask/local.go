package ask

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/fleet/internal/tables"
)

// Local copies the needed files into a local directory: DuckDB by itself does not read
// object stores, and it downloads the extension for them from the network. Existing copies
// are reused. most limits the copied bytes.
func Local(ctx context.Context, s store.Store, list []*tables.Table, set map[string]string, most int64, report func(string)) (string, error) {
	if d, ok := store.Local(s); ok {
		return d, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the directory for copies of tables: %w", err)
	}
	sum := sha256.Sum256([]byte(store.Identity(s)))
	dir := filepath.Join(base, "scopeview", "fleet", hex.EncodeToString(sum[:8]))
	var missing []store.Object
	for _, t := range list {
		prefix := t.Name + "/"
		if v := set["service"]; v != "" && !strings.ContainsAny(v, "%_") {
			prefix += store.Part("service", v) + "/"
		}
		more, err := compare(ctx, s, dir, prefix, set)
		if err != nil {
			return "", err
		}
		missing = append(missing, more...)
	}
	bytes := int64(0)
	for _, o := range missing {
		bytes += o.Size
	}
	if bytes > most {
		return "", fmt.Errorf("the question needs %d MB of %s that are not here yet, and --most allows %d: ask of a service or of fewer dates (--set service=…, since=…, until=…), or ask Trino where the tables are",
			bytes>>20, s, most>>20)
	}
	if len(missing) > 0 {
		report(fmt.Sprintf("copying %d files, %.1f MB, to %s", len(missing), float64(bytes)/1e6, dir))
	}
	for _, o := range missing {
		if err := bring(ctx, s, o.Key, filepath.Join(dir, filepath.FromSlash(o.Key))); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// compare returns the files below a prefix that the question needs and that are missing or
// older in dir. Copies of deleted files are removed.
func compare(ctx context.Context, s store.Store, dir, prefix string, set map[string]string) (missing []store.Object, err error) {
	all, err := s.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, o := range all {
		path := filepath.Join(dir, filepath.FromSlash(o.Key))
		if !filepath.IsLocal(filepath.FromSlash(o.Key)) || !strings.HasSuffix(o.Key, ".parquet") {
			continue // not written by the exporter
		}
		there[path] = true
		if !dated(o.Key, set) {
			continue
		}
		if st, err := os.Stat(path); err != nil || st.Size() != o.Size || st.ModTime().Before(o.Time) {
			missing = append(missing, o)
		}
	}
	return missing, forget(filepath.Join(dir, filepath.FromSlash(prefix)), there)
}

func bring(ctx context.Context, s store.Store, key, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return fmt.Errorf("making a directory for copies of tables: %w", err)
	}
	part := to + ".tmp"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("copying a table: %w", err)
	}
	if err := s.Get(ctx, key, part); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return fmt.Errorf("copying a table: %w", err)
	}
	return nil
}

// dated reports whether a file is of the requested dates.
func dated(key string, set map[string]string) bool {
	_, rest, ok := strings.Cut(key, "/date=")
	if !ok {
		return false
	}
	date, _, _ := strings.Cut(rest, "/")
	return (set["since"] == "" || date >= set["since"]) && (set["until"] == "" || date <= set["until"])
}

// forget removes copies of files that are no longer in the store.
func forget(dir string, there map[string]bool) error {
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && !e.IsDir() && strings.HasSuffix(p, ".parquet") && !there[p] {
			return os.Remove(p)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("looking for copies of tables: %w", err)
	}
	return nil
}

// There returns a function that reports whether a table has files in a directory.
func There(dir string) func(*tables.Table) bool {
	return func(t *tables.Table) bool {
		found, err := filepath.Glob(filepath.Join(escape(dir), t.Name, "*", "*", "*", "*", "*.parquet"))
		return err == nil && len(found) > 0
	}
}

// escape returns a directory with the special characters of Go's patterns escaped.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
