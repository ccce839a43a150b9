package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing/fstest"
)

// setReader reads the skills of a set. It returns how many labeled skills do not have files.
type setReader func(ctx context.Context, c collection, yield func(sample)) (unread int, err error)

// labeledSets are public sets of skills with labels. The files of a skill never tell which label it has.
var labeledSets = []struct {
	name         string
	repositories []string
	read         setReader
	heldOut      setReader // packages that the rules were not developed with
}{
	{"malskills", []string{"ShenaoW/MalSkills"}, readMalSkills, nil},
	{
		"maliciousskillbench",
		[]string{"protectskills/MaliciousSkillBench"},
		maliciousSkillBench(func(source string) bool { return !slices.Contains(heldOutSources, source) }),
		maliciousSkillBench(func(source string) bool { return slices.Contains(heldOutSources, source) }),
	},
	{"skillfortify", []string{"qualixar/skillfortify"}, readSkillFortify, nil},
	{"skill-inject", []string{"aisa-group/skill-inject"}, readSkillInject, nil},
	{"skill-scanner", []string{"cisco-ai-defense/skill-scanner"}, byPath("evals", "/safe"), nil},
	{"skillspector", []string{"NVIDIA/SkillSpector"}, byPath("tests/fixtures", "clean", "safe"), nil},
	{"bolhasec", []string{"bolhasec/post-Empirically-Testing-Skill-Scanners"}, byPath("skills"), nil},
	{"benign", []string{
		"K-Dense-AI/claude-scientific-skills", "UiPath/skills", "addyosmani/agent-skills",
		"anthropics/claude-plugins-official", "anthropics/knowledge-work-plugins", "anthropics/skills",
		"github/awesome-copilot", "microsoft/apm", "obra/superpowers", "openai/skills",
		"sickn33/antigravity-awesome-skills", "trailofbits/skills", "vercel-labs/agent-skills", "wshobson/agents",
	}, readBenign, nil},
}

// heldOutSources are the sources of MaliciousSkillBench that no rule may be developed with.
var heldOutSources = []string{"SRC011", "SRC012", "SRC013"}

// yieldSkill reads one skill. Without its files, it counts as unread.
func (t *tree) yieldSkill(s sample, dir string, alone bool, unread *int, yield func(sample)) error {
	files, err := t.skill(dir, alone)
	switch {
	case errors.Is(err, errNoObject):
		*unread++
		return nil
	case err != nil:
		return err
	}
	s.files = files
	yield(s)
	return nil
}

// readMalSkills reads the canonical set: a CSV file with labels and directories.
func readMalSkills(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
	t, err := c.open(ctx, c.repositories[0])
	if err != nil {
		return 0, err
	}
	defer t.close()
	rows, err := t.table("data/ground_truth/ground_truth_final.csv")
	for _, row := range rows {
		dir := path.Clean(row["Ground_truth_path"])
		s := sample{id: dir, malicious: row["Label"] == "malicious"}
		if err := t.yieldSkill(s, dir, false, &unread, yield); err != nil {
			return unread, err
		}
	}
	return unread, err
}

// table reads a CSV file: each row by the names of its columns.
func (t *tree) table(name string) ([]map[string]string, error) {
	data, err := t.read(name)
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rows []map[string]string
	for _, line := range lines[min(1, len(lines)):] {
		row := map[string]string{}
		for i, value := range line {
			row[lines[0][i]] = value
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// maliciousSkillBench reads the archives of some sources. Its benign skills are not in the repository.
func maliciousSkillBench(includes func(source string) bool) setReader {
	return func(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
		t, err := c.open(ctx, c.repositories[0])
		if err != nil {
			return 0, err
		}
		defer t.close()
		types := map[string][]string{}
		labels, err := t.table("metadata/benchmark_manifest.csv")
		if err != nil {
			return 0, err
		}
		for _, row := range labels {
			if categories := row["attack_categories"]; categories != "" {
				types[row["benchmark_id"]] = strings.Split(categories, "; ")
			}
		}
		rows, err := t.table("packages/package_manifest.csv")
		if err != nil {
			return 0, err
		}
		archives := map[string]map[string][]byte{}
		for _, row := range rows {
			name := row["package_archive"]
			if !includes(row["source_id"]) || row["label"] != "malicious" {
				continue
			}
			if archives[name] == nil {
				if archives[name], err = t.unpack("packages/" + name); err != nil {
					return unread, err
				}
			}
			files := below(archives[name], row["package_relative_path"])
			if len(files) == 0 {
				unread++
				continue
			}
			id := row["benchmark_id"]
			yield(sample{id: row["source_id"] + "/" + id, malicious: true, types: types[id], files: files})
		}
		return unread, nil
	}
}

// unpack reads the regular files of a compressed tar. If the clone does not have it, there are none.
func (t *tree) unpack(name string) (map[string][]byte, error) {
	files := map[string][]byte{}
	data, err := t.read(name)
	if errors.Is(err, errNoObject) || bytes.HasPrefix(data, []byte("version https://git-lfs")) {
		return files, nil
	} else if err != nil {
		return nil, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if at := path.Clean(h.Name); h.Typeflag == tar.TypeReg && fs.ValidPath(at) {
			if files[at], err = io.ReadAll(r); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
}

// below returns the files of a directory, or one file as a SKILL.md.
func below(files map[string][]byte, dir string) map[string][]byte {
	dir = path.Clean(dir)
	if data, ok := files[dir]; ok {
		return map[string][]byte{"SKILL.md": data}
	}
	found := map[string][]byte{}
	for name, data := range files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			found[rest] = data
		}
	}
	return found
}

// readSkillFortify reads the skills with a SKILL.md of SkillFortify's benchmark; others describe MCP servers.
func readSkillFortify(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
	t, err := c.open(ctx, c.repositories[0])
	if err != nil {
		return 0, err
	}
	defer t.close()
	var manifest struct {
		Entries []struct {
			ID        string `json:"skill_id"`
			Malicious bool   `json:"is_malicious"`
			Type      string `json:"attack_type"`
			Path      string `json:"path"`
		} `json:"entries"`
	}
	data, err := t.read("benchmarks/manifest.json")
	if err == nil {
		err = json.Unmarshal(data, &manifest)
	}
	for _, e := range manifest.Entries {
		if path.Base(e.Path) != "SKILL.md" {
			continue
		}
		s := sample{id: e.ID, malicious: e.Malicious, types: []string{e.Type}}
		if err := t.yieldSkill(s, path.Join("benchmarks", path.Dir(e.Path)), false, &unread, yield); err != nil {
			return unread, err
		}
	}
	return unread, err
}

// readSkillInject composes skill-inject's attacks with its skills, as the command inject does.
func readSkillInject(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
	t, err := c.open(ctx, c.repositories[0])
	if err != nil {
		return 0, err
	}
	defer t.close()
	files := fstest.MapFS{}
	for _, name := range t.under("data") {
		data, err := t.read(name)
		if err != nil {
			return 0, err
		}
		files[name] = &fstest.MapFile{Data: data, Mode: 0o644}
	}
	attacks, err := readAttacks(files)
	if err != nil {
		return 0, err
	}
	for _, a := range attacks {
		set, _, _ := strings.Cut(a.id, "/")
		for _, in := range a.compositions {
			yield(sample{id: a.id + "/" + in.skill.name, malicious: true, types: []string{set}, files: in.files})
		}
	}
	data, err := fs.Sub(files, "data")
	if err != nil {
		return 0, err
	}
	skills, err := readSkills(data)
	for name, skill := range skills {
		yield(sample{id: "skills/" + name, files: skill.files})
	}
	return 0, err
}

// byPath reads the skills below a directory. A skill is benign if its path contains one of the texts.
func byPath(dir string, benign ...string) setReader {
	return func(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
		t, err := c.open(ctx, c.repositories[0])
		if err != nil {
			return 0, err
		}
		defer t.close()
		for _, skill := range t.skills(dir) {
			rest := strings.TrimPrefix(skill, dir)
			isBenign := slices.ContainsFunc(benign, func(s string) bool { return strings.Contains(rest, s) })
			kept := func(s sample) { delete(s.files, "_expected.json"); yield(s) }
			if err := t.yieldSkill(sample{id: rest[1:], malicious: !isBenign}, skill, true, &unread, kept); err != nil {
				return unread, err
			}
		}
		return unread, nil
	}
}

// readBenign reads the skills of well-known repositories, which are taken as benign.
func readBenign(ctx context.Context, c collection, yield func(sample)) (unread int, err error) {
	for _, repository := range c.repositories {
		if err := c.readRepository(ctx, repository, &unread, yield); err != nil {
			return unread, err
		}
	}
	return unread, nil
}

func (c collection) readRepository(ctx context.Context, repository string, unread *int, yield func(sample)) error {
	t, err := c.open(ctx, repository)
	if err != nil {
		return err
	}
	defer t.close()
	for _, dir := range t.skills(".") {
		if err := t.yieldSkill(sample{id: repository + "/" + dir}, dir, true, unread, yield); err != nil {
			return err
		}
	}
	return nil
}
