package build

import (
	"encoding/json"
	"maps"
	"os"
	"strconv"
)

// hotFile returns the path of the list of functions that earlier runs of the same packages
// found to be called too often. The program and its tests have separate lists, and so has
// each budget.
func (o *Options) hotFile(verb Verb, packages []string) string {
	of := "program"
	if verb == Test {
		of = "test"
	}
	parts := [][]byte{[]byte(of), []byte(o.Dir), []byte(strconv.FormatFloat(o.Budget, 'g', -1, 64))}
	for _, p := range packages {
		parts = append(parts, []byte(p))
	}
	return o.Cache.path("hot", hash(parts...)+".json")
}

// readHot reads such a list: functions by the names of their scopes, and the reasons to
// leave them out. An unreadable list counts as missing: it will be rewritten.
func readHot(path string) map[string]string {
	hot := map[string]string{}
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &hot) != nil {
		return nil
	}
	return hot
}

// Learn adds functions that later builds leave out, and returns how many of them are new.
func (p *Plan) Learn(c Cache, out map[string]string) (int, error) {
	hot := readHot(p.Hot)
	if hot == nil {
		hot = map[string]string{}
	}
	was := len(hot)
	maps.Copy(hot, out)
	if len(hot) == was {
		return 0, nil
	}
	b, err := json.Marshal(hot)
	if err != nil {
		return 0, err
	}
	return len(hot) - was, c.write(p.Hot, b)
}

// Forget removes the list of learned functions.
func (p *Plan) Forget() error {
	if err := os.Remove(p.Hot); err != nil && !missing(err) {
		return err
	}
	return nil
}
