package lint

import (
	"context"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/yamlschema"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

// targetKind says what a link's target is.
type targetKind int

const (
	targetElsewhere   targetKind = iota // a URL, or nothing that is checked
	targetAnchor                        // a place in the same file
	targetFile                          // a path
	targetAbsolute                      // a path from the root of a file system
	targetPlaceholder                   // a pattern that somebody fills in
)

// target is a link's target, taken apart.
type target struct {
	kind      targetKind
	path      string // as written, percent-encoding resolved
	literal   string // as written
	fragment  string
	backslash bool
}

var (
	scheme = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`) })
	drive  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[\\/]`) })
)

// newTarget reads a link's target.
func newTarget(s string) target {
	s = strings.TrimSpace(s)
	switch {
	case s == "" || strings.HasPrefix(s, "//"):
		return target{}
	case drive().MatchString(s):
		return target{kind: targetAbsolute, path: s, literal: s}
	case placeholder(s):
		return target{kind: targetPlaceholder, literal: s}
	case strings.HasPrefix(strings.ToLower(s), "file:/"):
		return target{kind: targetAbsolute, path: s, literal: s}
	case scheme().MatchString(s):
		return target{}
	}
	t := target{kind: targetFile}
	s, t.fragment, _ = strings.Cut(s, "#")
	t.literal = s
	if plain, err := url.PathUnescape(t.fragment); err == nil {
		t.fragment = plain
	}
	if plain, err := url.PathUnescape(s); err == nil {
		s = plain
	}
	if strings.Contains(s, `\`) {
		t.backslash = true
		s = strings.ReplaceAll(s, `\`, "/")
	}
	t.path = s
	switch {
	case s == "":
		t.kind = targetAnchor
	case s[0] == '/' || s[0] == '~':
		t.kind = targetAbsolute
	}
	return t
}

// placeholder reports whether a target is a pattern to be filled in: a variable, braces, angle brackets, a glob, or
// dots in place of a path.
func placeholder(s string) bool {
	if strings.HasPrefix(s, "%") && strings.HasSuffix(s, "%") || strings.ContainsAny(s, "{}<>$*|") ||
		strings.Contains(s, "...") || strings.ContainsRune(s, '…') {
		return true
	}
	if plain, err := url.PathUnescape(s); err == nil && plain != s && strings.ContainsAny(plain, "{}<>$*|") {
		return true
	}
	clean := strings.TrimPrefix(s, "./")
	return strings.HasPrefix(clean, "path/to/") || strings.Contains(clean, "/path/to/") || stock[strings.ToLower(clean)]
}

// stock are the words that stand for a target in examples of Markdown.
var stock = map[string]bool{
	"url": true, "link": true, "uri": true, "href": true, "path": true, "target": true, "src": true, "source": true,
	"file": true, "filename": true, "filepath": true, "image": true, "image-url": true, "link-url": true,
	"permalink": true,
	"image_url": true, "link_url": true,
}

// withoutQuery returns a path without what follows a question mark.
func withoutQuery(p string) string {
	p, _, _ = strings.Cut(p, "?")
	return p
}

// isClean reports whether a path is one that package path would write so, and leads nowhere up.
func isClean(p string) bool {
	return p != "" && p[0] != '.' && p[0] != '/' && p[len(p)-1] != '/' && !strings.Contains(p, "//") &&
		!strings.Contains(p, "/.")
}

// inside joins a path to a directory of the skill; ok is false when it leads out of the skill.
func inside(dir, p string) (rel string, ok bool) {
	if dir == "." && isClean(p) {
		return p, true
	}
	rel = path.Join(dir, p)
	return rel, !pathx.Escapes(rel)
}

// Ask returns those findings of the skill at the root of a file system that rules name: ids, families, the start of an
// id and a star. It is for whoever decides whether to use what others wrote: what its author suppressed counts, rules
// count that are off until they are asked for, and so does a finding that is only advice.
func Ask(ctx context.Context, fsys fs.FS, rules []string) ([]diag.Finding, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	o := Options{Parallel: 1}
	for _, r := range rules {
		o.Settings.Levels = append(o.Settings.Levels, Level{Rules: r, Own: true})
	}
	report, err := Run(ctx, fsys, []string{"."}, o)
	if err != nil {
		return nil, err
	}
	found := report.Findings
	for _, s := range report.Suppressed {
		found = append(found, s.Finding)
	}
	return slices.DeleteFunc(found, func(f diag.Finding) bool {
		return !slices.ContainsFunc(rules, func(pattern string) bool { return rule.Match(pattern, f.Rule) })
	}), nil
}

// judge holds frontmatter against one profile's schema.
type judge struct {
	*profile.Profile
	schema *yamlschema.Schema
}

func newJudge(p *profile.Profile) (*judge, error) {
	s, err := readSchema(p.Schema)
	if err != nil {
		return nil, err
	}
	return &judge{p, s}, nil
}

func readSchema(name string) (*yamlschema.Schema, error) {
	text, err := schema.Read(name)
	if err != nil {
		return nil, err
	}
	return yamlschema.New(name, text)
}

// fields returns the fields that some host knows, in order.
func (l *Linter) fields() []string { return slices.Sorted(maps.Keys(l.hosts())) }

// hostFields returns, for every field that some profile knows, the profiles that know it.
func hostFields() map[string][]string {
	hosts := map[string][]string{}
	all, _ := profile.Hosts() // embedded: a test reads them all
	for _, p := range all {
		s, err := readSchema(p.Schema)
		if err != nil {
			continue
		}
		for _, name := range yamlschema.FieldNames(s.Raw) {
			hosts[name] = append(hosts[name], p.ID)
		}
	}
	return hosts
}
