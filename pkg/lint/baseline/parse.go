package baseline

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
)

// keys are those of an entry, in the order in which they are written.
var keys = []string{"rule", "path", "digest", "reason", "expires", "count"}

// Parse reads a baseline; path is how messages call it. Errors have code [diag.Invalid] and name line and column.
func Parse(path string, data []byte) (*Baseline, error) {
	p := parser{path: path}
	root, err := p.document(data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, diag.Errorf(diag.Invalid, "%s is empty", path).
			WithHint("write it with skillpm validate --baseline %s --write-baseline", path)
	}
	b := &Baseline{}
	version := false
	err = p.fields(root, "a baseline", []string{"version", "findings"}, func(key string, v *yaml.Node) error {
		if key == "version" {
			version = true
			return p.version(v)
		}
		return p.findings(b, v)
	})
	if err != nil {
		return nil, err
	}
	if !version {
		return nil, p.errorf(root, "the baseline does not say which version of the format it has").WithHint("add the line version: %s", Version)
	}
	b.sort()
	return b, nil
}

// parser reads one file. Its errors name the file, the line and the column.
type parser struct {
	path string
}

func (p parser) errorf(n *yaml.Node, format string, args ...any) *diag.Error {
	return diag.Errorf(diag.Invalid, "%s:%d:%d: "+format, append([]any{p.path, n.Line, n.Column}, args...)...)
}

var bom = []byte("\xef\xbb\xbf")

// document returns the root of the only document, or nil if it has no content.
func (p parser) document(data []byte) (*yaml.Node, error) {
	if len(data) > maxBytes {
		return nil, diag.Errorf(diag.Invalid, "%s has more than %d bytes", p.path, maxBytes)
	}
	if err := p.mergeMarkers(data); err != nil {
		return nil, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, bom)))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil //nolint:nilnil // an empty file is for the caller to judge
	} else if err != nil {
		return nil, p.syntax(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, p.errorf(&second, "there is a second document, and only one is read").
			WithHint("remove the line --- and what follows it")
	} else if !errors.Is(err, io.EOF) {
		return nil, p.syntax(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	root := doc.Content[0]
	if err := p.simple(root); err != nil {
		return nil, err
	}
	if isNull(root) {
		return nil, nil //nolint:nilnil // see above
	}
	if root.Kind != yaml.MappingNode {
		return nil, p.errorf(root, "a mapping with the keys version and findings is wanted here")
	}
	return root, nil
}

var yamlError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`) })

// syntax gives the YAML library's message a place.
func (p parser) syntax(err error) error {
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil || m[1] == "" {
		return diag.Errorf(diag.Invalid, "%s: not valid YAML: %s", p.path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return diag.Errorf(diag.Invalid, "%s:%s: not valid YAML: %s", p.path, m[1], m[2])
}

// mergeMarkers finds what git leaves behind in a file that it could not merge.
func (p parser) mergeMarkers(data []byte) error {
	line := 0
	for text := range bytes.Lines(bytes.TrimPrefix(data, bom)) {
		line++
		for _, marker := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
			if bytes.HasPrefix(text, []byte(marker)) {
				return p.errorf(&yaml.Node{Line: line, Column: 1}, "merge conflict that is not resolved: %s", bytes.TrimSpace(text)).
					WithHint("keep the entries of both sides and remove the lines <<<<<<<, ======= and >>>>>>>")
			}
		}
	}
	return nil
}

// simple refuses what makes a file say something else than it seems to say: anchors, aliases, tags, and keys that are
// there twice.
func (p parser) simple(n *yaml.Node) error {
	switch {
	case n.Kind == yaml.AliasNode:
		return p.errorf(n, "*%s is an alias, which is not used here", n.Value).WithHint("write the value itself")
	case n.Anchor != "":
		return p.errorf(n, "&%s is an anchor, which is not used here", n.Anchor).WithHint("write the value itself")
	case n.Style&yaml.TaggedStyle != 0:
		return p.errorf(n, "%s is a tag, which is not used here", n.Tag).WithHint("write the value in quotes")
	}
	seen := make(map[string]int)
	for i, child := range n.Content {
		if err := p.simple(child); err != nil {
			return err
		}
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			continue
		}
		if child.Kind != yaml.ScalarNode {
			return p.errorf(child, "a key must be one word")
		}
		if first := seen[child.Value]; first > 0 {
			return p.errorf(child, "%q is there twice, first on line %d", child.Value, first)
		}
		seen[child.Value] = child.Line
	}
	return nil
}

// fields calls each with the keys and values of a mapping, and refuses keys that are not known.
func (p parser) fields(n *yaml.Node, what string, known []string, each func(key string, v *yaml.Node) error) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !slices.Contains(known, k.Value) {
			err := p.errorf(k, "unknown key %q in %s", k.Value, what)
			if near := diag.Nearest(k.Value, known); near != "" {
				return err.WithHint("did you mean %s?", near)
			}
			return err.WithHint("known keys are %s", strings.Join(known, ", "))
		}
		if err := each(k.Value, v); err != nil {
			return err
		}
	}
	return nil
}

func (p parser) version(v *yaml.Node) error {
	if v.Kind != yaml.ScalarNode || v.Value != Version {
		return p.errorf(v, "version %q of the baseline's format is not known to this skillpm, which writes version %s", v.Value, Version).
			WithHint("use a newer skillpm")
	}
	return nil
}

func (p parser) findings(b *Baseline, v *yaml.Node) error {
	if isNull(v) {
		return nil
	}
	if v.Kind != yaml.SequenceNode {
		return p.errorf(v, "findings must be a list").WithHint("start each entry with a hyphen")
	}
	first := make(map[Finding]int, len(v.Content))
	for _, item := range v.Content {
		e, err := p.entry(item)
		if err != nil {
			return err
		}
		if line := first[e.Finding]; line > 0 {
			return p.errorf(item, "%s in %s is accepted twice with one digest, first on line %d", e.Rule, e.Path, line).
				WithHint("keep one entry, and give it a count")
		}
		first[e.Finding] = item.Line
		b.Entries = append(b.Entries, e)
	}
	return nil
}

func (p parser) entry(n *yaml.Node) (Entry, error) {
	e := Entry{Count: 1, Line: n.Line}
	if n.Kind != yaml.MappingNode {
		return e, p.errorf(n, "an entry must be a mapping with the keys %s", strings.Join(keys[:4], ", "))
	}
	at := make(map[string]*yaml.Node, len(keys))
	err := p.fields(n, "an entry", keys, func(key string, v *yaml.Node) (err error) {
		at[key] = v
		switch key {
		case "rule":
			e.Rule, err = p.text(v, key)
		case "path":
			e.Path, err = p.text(v, key)
		case "digest":
			e.Digest, err = p.text(v, key)
		case "reason":
			e.Reason, err = p.text(v, key)
			e.Reason = oneLine(e.Reason)
		case "expires":
			e.Expires, err = p.date(v)
		case "count":
			e.Count, err = p.count(v)
		}
		return err
	})
	if err != nil {
		return e, err
	}
	for _, key := range keys[:4] {
		if at[key] == nil {
			return e, p.missing(n, key)
		}
	}
	if e.Reason == "" {
		return e, p.missing(at["reason"], "reason")
	}
	if field, problem := e.check(); field != "" {
		return e, p.errorf(at[field], "%s", problem)
	}
	return e, nil
}

func (p parser) missing(n *yaml.Node, key string) error {
	err := p.errorf(n, "an entry has no %s", key)
	if key == "reason" {
		return err.WithHint("say why the finding is accepted")
	}
	return err
}

// text returns a scalar as it is written.
func (p parser) text(v *yaml.Node, key string) (string, error) {
	if v.Kind != yaml.ScalarNode {
		return "", p.errorf(v, "%s must be a text", key).WithHint("write the value in quotes")
	}
	if isNull(v) {
		return "", p.errorf(v, "%s has no value", key).WithHint("write the value in quotes")
	}
	return v.Value, nil
}

func (p parser) date(v *yaml.Node) (string, error) {
	s, err := p.text(v, "expires")
	if err != nil {
		return "", err
	}
	if t, err := time.Parse(time.DateOnly, s); err != nil || t.Year() == 0 {
		return "", p.errorf(v, "%q is not a day, as 2027-01-31", s)
	}
	return s, nil
}

func (p parser) count(v *yaml.Node) (int, error) {
	s, err := p.text(v, "count")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > maxCount || s != strconv.Itoa(n) {
		return 0, p.errorf(v, "count is %q, and must be a number from 1 to %d", s, maxCount)
	}
	return n, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
