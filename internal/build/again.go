package build

import (
	"encoding/json"
	"os"
)

// made is what was made of something, as far as it takes time to make it again.
type made struct {
	Was   map[string]at     // files that it was made of, where the key does not tell of them
	Files map[string]string // what is in the place of files: where that is, by their paths or names
	Rest  json.RawMessage
}

// again returns what was made under a key, if all of it is there and is of the same files. Else it
// is made. rest is a part that make fills in, and a pointer.
func (c Cache) again(key string, rest any, make func() (files map[string]string, was map[string]at, err error)) (map[string]string, error) {
	path := c.path("made", key[:2], key[2:]+".json")
	if b, err := os.ReadFile(path); err == nil {
		var m made
		if json.Unmarshal(b, &m) == nil && m.whole() && json.Unmarshal(m.Rest, rest) == nil {
			return m.Files, nil
		}
	}
	files, was, err := make()
	if err != nil {
		return nil, err
	}
	m := made{Was: was, Files: files}
	if m.Rest, err = json.Marshal(rest); err != nil {
		return nil, err
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return files, c.write(path, b)
}

func (m *made) whole() bool {
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

// kept stores texts, and returns where they are.
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
