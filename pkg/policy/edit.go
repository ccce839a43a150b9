package policy

import (
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

// unrestricted is a policy that restricts nothing.
const unrestricted = "version: 1\ndowngrade: allow # same as without a policy\n"

// IsUnrestricted reports whether a policy file is what remains of one that [Deny] created after [Undeny].
func IsUnrestricted(data []byte) bool { return string(data) == unrestricted }

// Deny returns a policy file with an additional pattern of denied skills. All other bytes, including comments, stay the
// same. If data is nil, it creates a policy that restricts nothing else. Added is false if the pattern was already
// denied.
//
// The error reports a file or a pattern that is not valid, or has code Conflict if the file cannot be edited
// automatically.
func Deny(path string, data []byte, pattern SkillPattern) (out []byte, added bool, err error) {
	if !isSkillPattern(string(pattern)) {
		return nil, false, diag.Errorf(diag.Usage,
			"%q does not have the form skill@owner/name, owner/name, or skill", pattern).
			WithHint("%s", skillHint(string(pattern)))
	}
	if data == nil {
		return []byte(unrestricted + "skills:\n  deny:\n    - " + quote(string(pattern)) + "\n"), true, nil
	}
	before, err := Parse(path, data)
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(before.Skills.Deny, pattern) {
		return data, false, nil
	}
	out, err = edit(path, data, append(slices.Clone(before.Skills.Deny), pattern), func(e *yamlx.Editor) error {
		return e.Append(string(pattern), "skills", "deny")
	})
	return out, true, err
}

// Undeny returns a policy file without a pattern of denied skills. See [Deny].
func Undeny(path string, data []byte, pattern SkillPattern) (out []byte, removed bool, err error) {
	before, err := Parse(path, data)
	if err != nil {
		return nil, false, err
	}
	i := slices.Index(before.Skills.Deny, pattern)
	if i < 0 {
		return data, false, nil
	}
	out, err = edit(path, data, slices.Delete(slices.Clone(before.Skills.Deny), i, i+1), func(e *yamlx.Editor) error {
		return e.RemoveItem(i, "skills", "deny")
	})
	return out, true, err
}

// edit applies a change and verifies that exactly the patterns in want are denied afterwards.
func edit(path string, data []byte, want []SkillPattern, change func(*yamlx.Editor) error) ([]byte, error) {
	e, err := yamlx.NewEditor(path, data)
	if err == nil {
		err = change(e)
	}
	if err == nil {
		_, err = Parse(path, e.Bytes())
	}
	if err != nil {
		words := make([]string, len(want))
		for i, p := range want {
			words[i] = quote(string(p))
		}
		return nil, diag.Errorf(diag.Conflict, "cannot edit %s automatically", path).
			WithHint("add skills: {deny: [%s]} to %s by hand", strings.Join(words, ", "), path)
	}
	return e.Bytes(), nil
}
