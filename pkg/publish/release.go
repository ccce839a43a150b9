package publish

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// maxWords limits the search terms of a release: those of its manifest, and then those of its skills.
const maxWords = 64

// release is the content to publish.
func release(m *pack.Manifest, p *pack.Pack, trees []bundle.Tree) oci.Release {
	rel := oci.Release{
		ID: m.Name, Version: m.Version, Description: m.Description, License: m.License, Dependencies: m.Dependencies,
		Tags: slices.Clone(m.Tags), Requires: m.Requires,
	}
	for _, t := range trees {
		meta := oci.SkillMeta{Name: t.Name}
		if s, ok := p.Skill(t.Name); ok {
			meta.Description = s.Description
		}
		for _, word := range readFrontmatter(&meta, t) {
			if tag, ok := pack.Tag(word); ok && !slices.Contains(rel.Tags, tag) && len(rel.Tags) < maxWords {
				rel.Tags = append(rel.Tags, tag)
			}
		}
		rel.Skills = append(rel.Skills, meta)
	}
	return rel
}

// readFrontmatter copies the frontmatter of a skill into its metadata, and returns the skill's search terms.
func readFrontmatter(meta *oci.SkillMeta, t bundle.Tree) (words []string) {
	f, err := t.Open(skill.File)
	if err != nil {
		return nil // parsed before
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, skill.MaxFile))
	if err != nil {
		return nil
	}
	doc, _ := skill.Parse(data)
	meta.License, meta.Compatibility = doc.License(), doc.Compatibility()
	switch _, tools := doc.Lookup("allowed-tools"); {
	case tools == nil:
	case tools.Kind == yaml.SequenceNode:
		for _, item := range tools.Content {
			meta.AllowedTools = append(meta.AllowedTools, skill.ScalarText(item))
		}
	case !strings.Contains(skill.ScalarText(tools), "("): // tool patterns may contain spaces
		meta.AllowedTools = strings.Fields(skill.ScalarText(tools))
	default:
		meta.AllowedTools = []string{skill.ScalarText(tools)}
	}
	_, tags := doc.Lookup("tags")
	words = tagWords(tags)
	if _, table := doc.Lookup("metadata"); table != nil && table.Kind == yaml.MappingNode {
		meta.Metadata = map[string]string{}
		for i := 0; i+1 < len(table.Content); i += 2 {
			key, value := skill.ScalarText(table.Content[i]), table.Content[i+1]
			if key == "tags" {
				words = append(words, tagWords(value)...)
			}
			meta.Metadata[key] = skill.ScalarText(value)
		}
	}
	return words
}

// tagWords parses tags: a list or, for text-only metadata, words separated by commas.
func tagWords(tags *yaml.Node) []string {
	switch {
	case tags == nil:
		return nil
	case tags.Kind == yaml.SequenceNode:
		var words []string
		for _, item := range tags.Content {
			words = append(words, skill.ScalarText(item))
		}
		return words
	}
	return strings.Split(skill.ScalarText(tags), ",")
}

// checkSkills lints the skills that the manifest names, not all skills below its directory. It lints the published
// bytes, which in a git checkout may have other line ends and modes than the disk.
func (c *Client) checkSkills(ctx context.Context, dir string) (lint.Report, error) {
	ref := pack.Ref{Kind: pack.KindPath, URL: filepath.ToSlash(dir)}
	content, err := pack.Describe(os.DirFS(dir), ref)
	if diag.CodeOf(err) == diag.NotFound && strings.Contains(err.Error(), "no skills found in ") {
		return lint.Report{}, diag.Errorf(diag.NotFound, "%w", err).WithHint("create a skill with: skillpm new NAME")
	}
	if err != nil {
		return lint.Report{}, err
	}
	sources, err := c.UserSources()
	if err != nil {
		return lint.Report{}, err
	}
	tree, err := sources.File(dir).Tree(ref)
	if err != nil {
		return lint.Report{}, err
	}
	var paths []string
	files, programs := map[string][]byte{}, map[string]bool{}
	for _, s := range content.Skills {
		path := filepath.Join(dir, filepath.FromSlash(s.Dir))
		if rel, ok := pathx.Rel(c.Dir, path); ok {
			path = rel // findings have the paths that the user typed
		}
		paths = append(paths, path)
		// the lint findings, or collecting the files, report what cannot be published
		_ = compareWithDisk(tree, dir, s.Dir, files, programs)
	}
	report, err := c.validate(ctx, ValidateOptions{Paths: paths, levels: publishLevels()}, files)
	report.Findings = slices.DeleteFunc(report.Findings, func(f diag.Finding) bool {
		return f.Rule == rule.Executable && programs[c.Machine.Abs(filepath.FromSlash(f.Path))]
	})
	return report, err
}

// publishLevels are the rules that are stricter for a pack that is published: nobody can use the text of a template.
func publishLevels() []lint.Level {
	return []lint.Level{{Rules: rule.TemplateText, Severity: diag.SeverityError}}
}

// compareWithDisk finds the files of a skill whose published bytes differ from those on disk, as in a git checkout with
// converted line ends, and the files that are published as executable. Both are keyed by absolute path.
func compareWithDisk(tree fs.FS, dir, skillDir string, files map[string][]byte, programs map[string]bool) error {
	return bundle.Walk(tree, skillDir, nil, func(f bundle.File) error {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if f.Executable() {
			programs[path] = true
		}
		file, err := tree.Open(f.Name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil || info.Size() == f.Info.Size() {
			return err
		}
		files[path], err = io.ReadAll(file)
		return err
	})
}

// dropExecutableFindings removes findings about missing executable bits of files that the manifest declares executable:
// the installed files will have them.
func (c *Client) dropExecutableFindings(report *lint.Report, p *checkedProject) {
	if len(p.programs.Executable) == 0 {
		return
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f diag.Finding) bool {
		if f.Rule != rule.Executable {
			return false
		}
		rel, ok := pathx.Rel(p.dir, c.Machine.Abs(filepath.FromSlash(f.Path)))
		if !ok {
			return false
		}
		dir := path.Dir(filepath.ToSlash(rel))
		for dir != "." && !isFile(filepath.Join(p.dir, filepath.FromSlash(dir), skill.File)) {
			dir = path.Dir(dir)
		}
		name, ok := pathx.RelSlash(dir, filepath.ToSlash(rel))
		return ok && p.programs.IsExecutable(dir, name)
	})
}
