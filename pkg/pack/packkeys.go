package pack

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxTags is how many words a manifest may list that its pack is found by.
const maxTags = 20

// tags reads the words that a pack is found by.
func tags(v yamlx.Value) []string {
	list := v.Texts(checkTag)
	if len(list) > maxTags {
		v.Errorf("keep those that somebody would search for", "%d tags are more than %d", len(list), maxTags)
	}
	return list
}

// checkTag checks a word that a pack is found by: it is written as a skill's name is.
func checkTag(s string) error {
	if skill.LegalName(s) {
		return nil
	}
	err := diag.Errorf(diag.Invalid, "tag %q is not written in small letters, digits and single hyphens", s)
	if tag, ok := Tag(s); ok {
		return err.WithHint("write %s", tag)
	}
	return err
}

// Tag returns a word as a tag, as "Kubernetes Jobs" as kubernetes-jobs, and reports whether it can be one.
func Tag(word string) (string, bool) {
	word = strings.Join(strings.FieldsFunc(strings.ToLower(word), func(r rune) bool { return r <= ' ' || r == '_' || r == '-' }), "-")
	return word, skill.LegalName(word)
}

// checkProgram checks a pattern of files that are programs.
func checkProgram(s string) error {
	switch {
	case strings.Contains(s, `\`):
		return diag.Errorf(diag.Invalid, "executable pattern %q has a backslash", s).WithHint("write forward slashes")
	case s == "" || path.IsAbs(s) || path.Clean(s) != s || s == "." || s == ".." || strings.HasPrefix(s, "../"):
		return diag.Errorf(diag.Invalid, "executable pattern %q is not a path inside the pack", s).
			WithHint("write the path in the skill or in the pack, as in \"scripts/*.sh\"")
	}
	return nil
}

// Runs reports whether the manifest says that a file is a program, by its path in the skill in directory dir of the pack,
// or by that in the pack. What says so adds the executable bit on every system, so that a pack has the same digests where
// files have no such bit.
func (m *Manifest) Runs(dir, file string) bool {
	inPack := path.Join(dir, file)
	for _, pattern := range m.Executable {
		if MatchGlob(pattern, file) || MatchGlob(pattern, inPack) {
			return true
		}
	}
	return false
}
