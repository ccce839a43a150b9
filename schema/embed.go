// Package schema holds the JSON Schemas (draft 2020-12) of everything that skillpm reads: a skill's frontmatter, one
// file per profile, and skillpm's own files. Editors use the same files for completion. The directory output has those
// of what commands print with --json; they are generated. It is data: nothing is compiled here.
package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Base is what every schema's $id starts with; the file's name follows.
const Base = "https://raw.githubusercontent.com/skillpm/skillpm/main/schema/"

const (
	suffix = ".schema.json"
	output = "output"
)

//go:embed *.json output/*.json
var files embed.FS

// Names returns the names of the schemas of what skillpm reads in order, as "lock" and "skill.agentskills".
func Names() []string { return names(".") }

// OutputNames returns the names of the schemas of what commands print with --json in order, as "output/log-verify".
func OutputNames() []string {
	list := names(output)
	for i := range list {
		list[i] = output + "/" + list[i]
	}
	return list
}

func names(dir string) []string {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil
	}
	var list []string
	for _, e := range entries {
		if !e.IsDir() {
			list = append(list, strings.TrimSuffix(e.Name(), suffix))
		}
	}
	slices.Sort(list) // without the suffix, log comes before log-stats
	return list
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
