// Package schema holds the JSON Schemas (draft 2020-12) of everything that skillpm reads: a skill's frontmatter, one
// file per profile, and skillpm's own files. Editors use the same files for completion. It is data: nothing is compiled
// here.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// Base is what every schema's $id starts with; the file's name follows.
const Base = "https://raw.githubusercontent.com/skillpm/skillpm/main/schema/"

const suffix = ".schema.json"

//go:embed *.json
var files embed.FS

// Names returns the names of all schemas in order, as "lock" and "skill.agentskills".
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), suffix))
	}
	return names
}

// Read returns the text of a schema by its name, with or without the ending ".schema.json". The error matches
// [fs.ErrNotExist] when there is none of that name.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(strings.TrimSuffix(name, suffix) + suffix)
	if err != nil {
		return nil, fmt.Errorf("schema %q: %w", name, fs.ErrNotExist)
	}
	return data, nil
}
