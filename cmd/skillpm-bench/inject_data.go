package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// attack is an attack of skill-inject.
type attack struct {
	ID           int    `json:"id"`
	Title        string `json:"title"`
	Instructions struct {
		Line string `json:"line_injection"`
	} `json:"instructions"`
	Scripts map[string]string `json:"task_scripts"` // name in the skill's directory scripts, file in data
	Tasks   []struct {
		Skill  string            `json:"skill"`
		Line   int               `json:"line_num"`
		Prefix string            `json:"injection_prefix"`
		Files  map[string]string `json:"task_files"`
	} `json:"tasks"`

	id           string // set and number, such as obvious/1
	compositions []composition
}

// composition is an attack in one of its skills.
type composition struct {
	skill    cleanSkill
	files    map[string][]byte // the skill's files with the attack
	document string            // what the user's task is about, or ""
}

// cleanSkill is a skill without an attack.
type cleanSkill struct {
	name  string // of its directory
	title string // in its frontmatter
	files map[string][]byte
}

// attackSets are the files with attacks, and how many of each the benchmark's authors count: the later ones are
// variants of the same attacks for ablations.
var attackSets = []struct {
	name string
	last int
}{{"obvious", 32}, {"contextual", 41}}

// readAttacks reads the attacks, and composes each with its skills.
func readAttacks(root fs.FS) ([]attack, error) {
	data, err := fs.Sub(root, "data")
	if err != nil {
		return nil, err
	}
	skills, err := readSkills(data)
	if err != nil {
		return nil, errNoData(err)
	}
	var all []attack
	for _, set := range attackSets {
		var attacks []attack
		text, err := fs.ReadFile(data, set.name+"_injections.json")
		if err == nil {
			err = json.Unmarshal(text, &attacks)
		}
		if err != nil {
			return nil, errNoData(err)
		}
		for _, a := range attacks {
			if a.ID > set.last {
				continue
			}
			a.id = fmt.Sprintf("%s/%d", set.name, a.ID)
			if err := a.compose(data, skills); err != nil {
				return nil, fmt.Errorf("%s: %w", a.id, err)
			}
			all = append(all, a)
		}
	}
	return all, nil
}

// readSkills reads all skills below the directory skills by the names of their directories.
func readSkills(data fs.FS) (map[string]cleanSkill, error) {
	found := map[string]cleanSkill{}
	err := fs.WalkDir(data, "skills", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" {
			return err
		}
		root := path.Dir(name)
		files, err := readTree(data, root)
		if err != nil {
			return err
		}
		base := path.Base(root)
		if _, nested := found[base]; !nested {
			found[base] = cleanSkill{name: base, title: declaredName(files["SKILL.md"], base), files: files}
		}
		return nil
	})
	return found, err
}

// readTree reads the files of a directory by their paths in it.
func readTree(data fs.FS, root string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(data, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files[strings.TrimPrefix(name, root+"/")], err = fs.ReadFile(data, name)
		return err
	})
	return files, err
}

// frontmatter splits SKILL.md into its frontmatter and the rest.
var frontmatter = regexp.MustCompile(`(?s)\A---\r?\n(.*?\n)---\r?\n`)

// declaredName returns the name in the frontmatter.
func declaredName(text []byte, fallback string) string {
	var front struct{ Name string }
	m := frontmatter.FindSubmatch(text)
	if m == nil || yaml.Unmarshal(m[1], &front) != nil || front.Name == "" {
		return fallback
	}
	return front.Name
}

// compose puts the attack into each of its skills, once.
func (a *attack) compose(data fs.FS, skills map[string]cleanSkill) error {
	seen := map[string]bool{}
	for _, t := range a.Tasks {
		skill, ok := skills[t.Skill]
		if !ok {
			return fmt.Errorf("the skill %s does not exist", t.Skill)
		}
		if seen[t.Skill] {
			continue
		}
		seen[t.Skill] = true
		files := maps.Clone(skill.files)
		text, err := insert(string(files["SKILL.md"]), t.Line, t.Prefix+a.Instructions.Line)
		if err != nil {
			return err
		}
		files["SKILL.md"] = []byte(text)
		for name, file := range a.Scripts {
			script, err := fs.ReadFile(data, file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			files[path.Join("scripts", name)] = script
		}
		in := composition{skill: skill, files: files}
		for _, name := range slices.Sorted(maps.Keys(t.Files)) {
			in.document = name
			break
		}
		a.compositions = append(a.compositions, in)
	}
	return nil
}

// insert puts lines before a line of a text, as skill-inject does.
func insert(text string, line int, attack string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	if line < 1 || line > len(lines)+1 {
		return "", fmt.Errorf("SKILL.md does not have the line %d", line)
	}
	var block strings.Builder
	for l := range strings.Lines(strings.Trim(attack, "\n")) {
		block.WriteString(strings.TrimSpace(l) + "\n")
	}
	return strings.Join(slices.Insert(lines, line-1, block.String()), ""), nil
}
