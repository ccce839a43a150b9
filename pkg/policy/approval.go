package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Approval is a recorded decision that a skill may have capabilities. It applies to exactly one tree of files, and to
// the capabilities that it names.
type Approval struct {
	Skill        string // name@owner/name, or the name of a local skill
	Digest       string // digest of the reviewed tree, "t1:sha256:…"
	Capabilities []Capability
	By           string    // user who approved it
	At           time.Time // time in UTC
	Reason       string
	Expires      time.Time // zero for never
	Line         int       // line in the file
}

// Expired reports whether an approval has ended.
func (a Approval) Expired(now time.Time) bool { return !a.Expires.IsZero() && !now.Before(a.Expires) }

// Lacks returns those of the required capabilities that an approval does not name.
func (a Approval) Lacks(required []Capability) []Capability {
	return slices.DeleteFunc(slices.Clone(required),
		func(c Capability) bool { return slices.Contains(a.Capabilities, c) })
}

// ParseApprovals reads a file of approvals, as strictly as a policy. The error is an [*InvalidError] with all problems
// of the file, which then approves nothing.
func ParseApprovals(path string, data []byte) ([]Approval, error) {
	format := fileFormat
	format.Name = "the file"
	root, r := read(path, data, format)
	var list []Approval
	root.Each(map[string]func(yamlx.Value){
		"version": func(v yamlx.Value) { version(v) },
		"approvals": func(v yamlx.Value) {
			for item := range v.Items() {
				list = append(list, approval(item.Named("an approval")))
			}
		},
	})
	if root.Exists() && !root.Get("version").Exists() {
		root.Errorf(versionHint, "the approvals file does not have a version")
	}
	if err := invalid(path, r); err != nil {
		return nil, err
	}
	return list, nil
}

func approval(v yamlx.Value) Approval {
	a := Approval{Line: v.Line()}
	text := func(into *string) func(yamlx.Value) {
		return func(v yamlx.Value) {
			*into = v.Text(func(s string) error {
				if s == "" {
					return diag.Errorf(diag.Invalid, "%s is empty", v.Name)
				}
				return nil
			})
		}
	}
	moment := func(into *time.Time) func(yamlx.Value) {
		return func(v yamlx.Value) {
			*into = yamlx.As(v, func(s string) (time.Time, error) {
				t, err := time.Parse(time.RFC3339, s)
				if err != nil {
					return t, wrong("use the form 2026-01-31T12:00:00Z", "%s is %q, which is not a time", v.Name, s)
				}
				return t.UTC(), nil
			})
		}
	}
	v.Each(map[string]func(yamlx.Value){
		"skill": text(&a.Skill), "by": text(&a.By), "reason": text(&a.Reason),
		"at": moment(&a.At), "expires": moment(&a.Expires),
		"capabilities": func(v yamlx.Value) { a.Capabilities = capabilities(v) },
		"digest": func(v yamlx.Value) {
			a.Digest = v.Text(func(s string) error {
				if bundle.CheckDigest(s) != nil {
					return wrong("create approvals with: skillpm approve", "digest is %q, which is not a tree digest", s)
				}
				return nil
			})
		},
	})
	v.Require("create approvals with: skillpm approve", "skill", "digest", "capabilities", "by", "at", "reason")
	return a
}

// EncodeApprovals writes a file of approvals in the format that [ParseApprovals] reads. Equal lists give equal bytes.
func EncodeApprovals(list []Approval) []byte {
	var b bytes.Buffer
	b.WriteString("# created by skillpm approve\nversion: 1\napprovals:")
	if len(list) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, a := range list {
		caps := make([]string, len(a.Capabilities))
		for i, c := range a.Capabilities {
			caps[i] = string(c)
		}
		fmt.Fprintf(&b,
			"  - skill: %s\n    digest: %q\n    capabilities: [%s]\n    by: %s\n    at: %q\n    reason: %s\n",
			quote(a.Skill), a.Digest, strings.Join(caps, ", "), quote(a.By), a.At.UTC().Format(time.RFC3339),
			quote(a.Reason))
		if !a.Expires.IsZero() {
			fmt.Fprintf(&b, "    expires: %q\n", a.Expires.UTC().Format(time.RFC3339))
		}
	}
	return b.Bytes()
}

// quote writes a text as a YAML string in double quotes on one line. Control characters become spaces.
func quote(s string) string {
	s = strings.Map(func(c rune) rune {
		if isControl(c) || c == '\ufeff' || c == '\ufffd' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, " "))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// isControl reports whether a character is a control character or changes the direction of text.
func isControl(c rune) bool {
	return c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x200b && c <= 0x200f || c >= 0x2028 && c <= 0x202e ||
		c >= 0x2060 && c <= 0x2069 || c == 0xfeff || c >= 0xe0000 && c < 0xe0080
}
