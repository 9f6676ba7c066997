package build

import (
	"encoding/json"
	"os"
)

// storedStep is the stored result of a slow step.
type storedStep struct {
	Was   map[string]at     // source files that the key does not cover
	Files map[string]string // paths of replacement files, by the replaced path or name
	Rest  json.RawMessage
}

// stored returns the stored result of a key, if all of its files exist and its sources are
// unchanged. Otherwise it calls make and stores the result. rest is a pointer to an
// additional part that make sets.
func (c Cache) stored(key string, rest any, make func() (files map[string]string, was map[string]at, err error)) (map[string]string, error) {
	path := c.path("made", key[:2], key[2:]+".json")
	if b, err := os.ReadFile(path); err == nil {
		var m storedStep
		if json.Unmarshal(b, &m) == nil && m.whole() && json.Unmarshal(m.Rest, rest) == nil {
			return m.Files, nil
		}
	}
	files, was, err := make()
	if err != nil {
		return nil, err
	}
	m := storedStep{Was: was, Files: files}
	if m.Rest, err = json.Marshal(rest); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return files, c.write(path, b)
}

func (m *storedStep) whole() bool {
	for _, path := range m.Files {
		if stat(path) == (at{}) {
			return false
		}
	}
	for path, was := range m.Was {
		if stat(path) != was {
			return false
		}
	}
	return true
}

// kept stores texts in the cache, and returns their paths.
func (c Cache) kept(files map[string][]byte) (map[string]string, error) {
	where := map[string]string{}
	for name, b := range files {
		to, err := c.keep(name, b)
		if err != nil {
			return nil, err
		}
		where[name] = to
	}
	return where, nil
}
