package main

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestJSONKeysAreDocumented: every key of the documents is a word of the
// command's documentation.
func TestJSONKeysAreDocumented(t *testing.T) {
	b, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`\w+`).FindAllString(string(b), -1) {
		words[w] = true
	}
	keys := 0
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				key, ok := typ.Field(i).Tag.Lookup("json")
				if !ok {
					continue
				}
				key, _, _ = strings.Cut(key, ",")
				keys++
				if !words[key] {
					t.Errorf("doc.go does not tell of %s, a key of %s", key, typ.Name())
				}
				if strings.ToLower(key) != key {
					t.Errorf("%s is not in small letters", key)
				}
				walk(typ.Field(i).Type)
			}
		}
	}
	for _, document := range []any{infoJSON{}, topJSON{}, stacksJSON{}, statesJSON{}, waitsJSON{}, waitsOfJSON{}, placeJSON{}, stateGroupJSON{}, findingJSON{}, scopeJSON{}, lockJSON{}, stackJSON{}} {
		walk(reflect.TypeOf(document))
	}
	if keys < 50 {
		t.Errorf("only %d keys were looked at", keys)
	}
}
