package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/pack/bundle"
)

// Approval is somebody's word that a skill may have capabilities: a tree of files and no other, and the capabilities that
// are named and no more.
type Approval struct {
	Skill        string // name@owner/name, or a name for a skill that was written by hand
	Digest       string // of the tree that was looked at, "t1:sha256:…"
	Capabilities []Capability
	By           string    // who approved it
	At           time.Time // when, in UTC
	Reason       string
	Expires      time.Time // zero for never
	Line         int       // in the file
}

// Expired reports whether an approval has ended.
func (a Approval) Expired(now time.Time) bool { return !a.Expires.IsZero() && !now.Before(a.Expires) }

// Lacks returns those of some capabilities that an approval does not name.
func (a Approval) Lacks(wanted []Capability) []Capability {
	return slices.DeleteFunc(slices.Clone(wanted), func(c Capability) bool { return slices.Contains(a.Capabilities, c) })
}

// ParseApprovals reads a file of approvals, as strictly as a policy. The error is an [*InvalidError] with everything that is
// wrong with the file, which then approves nothing.
func ParseApprovals(path string, data []byte) ([]Approval, error) {
	r := &reader{path: path}
	var list []Approval
	if root := r.root(data); root != nil {
		r.fields(root, "the file", fields{
			"version": func(v *yaml.Node) { r.version(v) },
			"approvals": func(v *yaml.Node) {
				items, _ := r.sequence(v, "approvals")
				for _, item := range items {
					list = append(list, r.approval(item))
				}
			},
		})
		if lookup(root, "version") == nil {
			r.add(root, "write version: 1 in the first line", "the approvals have no version")
		}
	}
	if len(r.problems) > 0 {
		return nil, &InvalidError{Path: path, Problems: r.problems}
	}
	return list, nil
}

// approval reads one entry.
func (r *reader) approval(v *yaml.Node) Approval {
	a := Approval{Line: v.Line}
	text := func(to *string, what string) func(*yaml.Node) {
		return func(v *yaml.Node) {
			if *to, _ = r.text(v, what); *to == "" {
				r.add(v, "", "%s is empty", what)
			}
		}
	}
	moment := func(to *time.Time, what string) func(*yaml.Node) {
		return func(v *yaml.Node) {
			s, ok := r.text(v, what)
			at, err := time.Parse(time.RFC3339, s)
			if ok && err != nil {
				r.add(v, "write it as 2026-01-31T12:00:00Z", "%s is %q, which is no time", what, s)
			}
			*to = at.UTC()
		}
	}
	ok := r.fields(v, "an approval", fields{
		"skill": text(&a.Skill, "skill"), "by": text(&a.By, "by"), "reason": text(&a.Reason, "reason"),
		"digest": func(v *yaml.Node) {
			if a.Digest, _ = r.text(v, "digest"); bundle.CheckDigest(a.Digest) != nil {
				r.add(v, "skillpm approve writes it", "digest is %q, which is not that of a tree", a.Digest)
			}
		},
		"capabilities": func(v *yaml.Node) { a.Capabilities = r.capabilities(v, "capabilities") },
		"at":           moment(&a.At, "at"), "expires": moment(&a.Expires, "expires"),
	})
	for _, key := range []string{"skill", "digest", "capabilities", "by", "at", "reason"} {
		if ok && lookup(v, key) == nil {
			r.add(v, "skillpm approve writes it", "an approval has no %s", key)
		}
	}
	return a
}

// EncodeApprovals writes a file of approvals, as [ParseApprovals] reads it. Equal lists give equal bytes.
func EncodeApprovals(list []Approval) []byte {
	var b bytes.Buffer
	b.WriteString("# written by skillpm approve\nversion: 1\napprovals:")
	if len(list) == 0 {
		b.WriteString(" []")
	}
	b.WriteString("\n")
	for _, a := range list {
		caps := make([]string, len(a.Capabilities))
		for i, c := range a.Capabilities {
			caps[i] = string(c)
		}
		fmt.Fprintf(&b, "  - skill: %s\n    digest: %q\n    capabilities: [%s]\n    by: %s\n    at: %q\n    reason: %s\n",
			quote(a.Skill), a.Digest, strings.Join(caps, ", "), quote(a.By), a.At.UTC().Format(time.RFC3339), quote(a.Reason))
		if !a.Expires.IsZero() {
			fmt.Fprintf(&b, "    expires: %q\n", a.Expires.UTC().Format(time.RFC3339))
		}
	}
	return b.Bytes()
}

// quote writes a text as YAML in double quotes on one line. What no line may have becomes a space.
func quote(s string) string {
	s = strings.Map(func(c rune) rune {
		if isControl(c) || c == '\ufeff' || c == '\ufffd' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, " "))
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
