package publish

import (
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/source/oci"
)

// maxWords is how many words a release is found by at most: those of its manifest, and then those of its skills.
const maxWords = 64

// release describes what is published.
func release(m *pack.Manifest, p *pack.Pack, trees []bundle.Tree) oci.Release {
	rel := oci.Release{
		ID: m.Name, Version: m.Version, Description: m.Description, License: m.License, Dependencies: m.Dependencies,
		Tags: slices.Clone(m.Tags),
	}
	for _, t := range trees {
		meta := oci.SkillMeta{Name: t.Name}
		if s, ok := p.Skill(t.Name); ok {
			meta.Description = s.Description
		}
		for _, word := range declared(&meta, t) {
			if tag, ok := pack.Tag(word); ok && !slices.Contains(rel.Tags, tag) && len(rel.Tags) < maxWords {
				rel.Tags = append(rel.Tags, tag)
			}
		}
		rel.Skills = append(rel.Skills, meta)
	}
	return rel
}

// declared adds what a skill's frontmatter says of it, and returns the words that it is to be found by.
func declared(meta *oci.SkillMeta, t bundle.Tree) (words []string) {
	f, err := t.Open(skill.File)
	if err != nil {
		return nil // it was checked before
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
	case !strings.Contains(skill.ScalarText(tools), "("): // a tool with arguments may have spaces in them
		meta.AllowedTools = strings.Fields(skill.ScalarText(tools))
	default:
		meta.AllowedTools = []string{skill.ScalarText(tools)}
	}
	_, tags := doc.Lookup("tags")
	words = wordsOf(tags)
	if _, table := doc.Lookup("metadata"); table != nil && table.Kind == yaml.MappingNode {
		meta.Metadata = map[string]string{}
		for i := 0; i+1 < len(table.Content); i += 2 {
			key, value := skill.ScalarText(table.Content[i]), table.Content[i+1]
			if key == "tags" {
				words = append(words, wordsOf(value)...)
			}
			meta.Metadata[key] = skill.ScalarText(value)
		}
	}
	return words
}

// wordsOf reads tags, which are a list or, where only text is allowed, words with commas between them.
func wordsOf(tags *yaml.Node) []string {
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
