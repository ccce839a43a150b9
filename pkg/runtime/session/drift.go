package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The limits of the search for a skill that was moved.
const (
	maxSkillFile = 16 << 20 // maximum size of SKILL.md in bytes
	maxSiblings  = 500      // maximum number of directories that are searched
)

// Drift describes how a skill changed on disk since its activation, "" if it did not.
func (a Active) Drift() string {
	digest, err := digestOf(a.Real)
	switch {
	case err == nil && digest == a.Digest:
		return ""
	case err == nil:
		return fmt.Sprintf(
			"the SKILL.md of skill %q changed after the activation: the earlier text stays active", a.Name)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf(
			"skillpm can no longer read the SKILL.md of skill %q: the earlier text stays active", a.Name)
	}
	if name := a.renamed(); name != "" {
		return fmt.Sprintf("skill %q was renamed to %s after the activation: the earlier text stays active",
			a.Name, name)
	}
	return fmt.Sprintf("skill %q was deleted after the activation: the earlier text stays active", a.Name)
}

// renamed returns the name of a sibling directory that now has the skill: the same SKILL.md, or the same text under
// another name. It returns "" if none has.
func (a Active) renamed() string {
	parent := filepath.Dir(a.Real)
	entries, err := os.ReadDir(parent)
	if err != nil || len(entries) > maxSiblings {
		return ""
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		data, err := readSkillFile(filepath.Join(parent, e.Name()))
		if err == nil && (audit.Digest(data) == a.Digest || a.Text != "" && textOf(data) == a.Text) {
			return e.Name()
		}
	}
	return ""
}

// missing reports whether the skill's SKILL.md is gone.
func (a Active) missing() bool {
	_, err := digestOf(a.Real)
	return errors.Is(err, fs.ErrNotExist)
}

func digestOf(dir string) (string, error) {
	data, err := readSkillFile(dir)
	return audit.Digest(data), err
}

func readSkillFile(dir string) ([]byte, error) {
	return safefile.ReadIn(safefile.Dir(dir), skill.File, maxSkillFile)
}

// digestOfText returns the digest of a skill's description and instructions, "" if it has no instructions.
func digestOfText(doc *skill.Document) string {
	if len(bytes.TrimSpace(doc.Body())) == 0 {
		return ""
	}
	return audit.Digest(append([]byte(doc.Description()+"\n"), doc.Body()...))
}

// textOf returns the digestOfText of a SKILL.md.
func textOf(data []byte) string {
	doc, _ := skill.Parse(data) // errors in its frontmatter do not matter here
	if doc == nil {
		return ""
	}
	return digestOfText(doc)
}
