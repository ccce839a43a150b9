package profile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/schema"
)

// Names of the values in templates.
var (
	entryValues  = []string{"name", "description", "directory", "location", "layer", "pack", "tags"}
	frameValues  = []string{"tool", "file_tool", "find_tool", "find", "count", "all", "left", "shortened", "tags"}
	tagValues    = []string{"tag", "count"}
	fileValues   = []string{"path", "description"}
	resultValues = []string{
		"name", "directory", "description", "body", "source", "path", "files", "paths", "task",
		"error", "hint", "available", "timestamp", "duration_ms", "seconds", "tool", "file_tool", "model", "allowed_tools",
		"ask", "toolsets",
	}
)

var filters = []string{"", "quoted", "trimmed"}

// checker checks what the field types of a profile cannot express. Errors have the line in root; inherited values were
// checked before.
type checker struct{ root yamlx.Value }

func (c checker) check(p *Profile) {
	c.oneOf(p.Schema, schema.Names(), "schema")
	c.oneOf(p.ToolForm, []string{"", "space", "comma", "list", "any"}, "tool-form")
	c.oneOf(p.Names, []string{"", "directory"}, "names")
	c.oneOf(p.Scripts, []string{"", "read", "run-only"}, "scripts")
	c.oneOf(p.Substitution.Append, []string{"", "line", "paragraph"}, "substitution", "append")
	c.oneOf(p.Stage1.Place, []string{"", "system-prompt", "tool-description"}, "stage1", "place")
	c.oneOf(p.Stage1.Budget.Over, []string{"", "drop", "cut", "omit", "keep"}, "stage1", "budget", "over")
	c.oneOf(p.Stage1.Sort, []string{"", "name", "layer", "use"}, "stage1", "sort")
	c.bounds(p)
	c.limits(p.Limits)
	if !p.Preset {
		c.checkAll(p)
	}
	c.layers(p.Layers)
	for dir, variable := range p.Moved {
		if !strings.HasPrefix(dir, "~/") || !isLayerDir(dir) || variable == "" {
			c.valueAt([]string{"moved"}).
				Errorf("use the form moved: {~/.agent: AGENT_HOME}",
					"moved: %q must map a directory below ~/ to a variable", dir)
		}
	}
	c.layout(p.Stage1.Layout, entryValues, "stage1")
	c.layout(p.Stage1.Compact, tagValues, "stage1", "compact")
	for name, l := range p.Stage1.Formats {
		c.layout(l, entryValues, "stage1", "formats", name)
	}
	c.template(p.Trigger.Message, resultValues, "trigger", "message")
	c.template(p.Activation.Notice, resultValues, "activation", "notice")
	c.template(p.Qualify, []string{"pack", "name"}, "qualify")
	for _, t := range []struct {
		kind string
		tool Tool
	}{{"skill", p.Trigger.Skill}, {"file", p.Trigger.File}, {"find", p.Trigger.Find}} {
		c.tool(t.tool, "trigger", t.kind)
	}
	a := &p.Activation
	for _, f := range []struct {
		kind string
		form *Form
	}{
		{"activated", &a.Activated},
		{"spawned", &a.Spawned},
		{"failed", &a.Failed},
		{"unknown", &a.Unknown},
		{"file", &a.File},
	} {
		c.form(f.form, "activation", f.kind)
	}
}

// valueAt returns the value at a path, or the nearest existing one above it.
func (c checker) valueAt(path []string) yamlx.Value {
	for ; len(path) > 0; path = path[:len(path)-1] {
		if v := c.root.Get(path...); v.Exists() {
			return v
		}
	}
	return c.root
}

func (c checker) oneOf(value string, known []string, path ...string) {
	if slices.Contains(known, value) {
		return
	}
	node, name := c.valueAt(path), strings.Join(path, ".")
	if value == "" {
		c.missing(node, name)
		return
	}
	hint := "use " + textx.OneOf(slices.DeleteFunc(slices.Clone(known), func(s string) bool { return s == "" }))
	if near := diag.Nearest(strings.ToLower(value), known); near != "" {
		hint = "did you mean " + near + "?"
	}
	node.Errorf(hint, "unknown value %q in %s", value, name)
}

func (c checker) missing(value yamlx.Value, name string) {
	value.Errorf("add extends: "+Runtime+", or the field "+name, "%s is missing", name)
}

// checkAll checks that a profile of an agent describes skills and each kind of result.
func (c checker) checkAll(p *Profile) {
	for _, f := range []struct{ text, name string }{
		{p.Stage1.Entry, "stage1.entry"},
		{p.Activation.Activated.Text, "activation.activated.text"},
		{p.Activation.Spawned.Text, "activation.spawned.text"},
		{p.Activation.Failed.Text, "activation.failed.text"},
		{p.Activation.File.Text, "activation.file.text"},
	} {
		if f.text == "" {
			c.missing(c.valueAt(strings.Split(f.name, ".")), f.name)
		}
	}
}

func (c checker) bounds(p *Profile) {
	b := p.Stage1.Budget
	if b.Share < 0 || b.Share > 100 {
		c.valueAt([]string{"stage1", "budget", "share"}).
			Errorf("", "stage1.budget.share is %v, but must be a percentage from 0 to 100", b.Share)
	}
	for _, n := range []struct {
		n    int
		path []string
	}{
		{b.Fallback, []string{"stage1", "budget", "fallback"}},
		{b.Bytes, []string{"stage1", "budget", "bytes"}},
		{p.Stage1.Cap, []string{"stage1", "cap"}},
	} {
		if n.n < 0 {
			c.valueAt(n.path).Errorf("", "%s is %d, but must not be negative", strings.Join(n.path, "."), n.n)
		}
	}
}

// limits checks that the limits of later versions name the version.
func (c checker) limits(limits []Limits) {
	for i, l := range limits {
		if _, err := semver.NewVersion(l.From); l.Instructions < 0 || l.Description < 0 || err != nil && (i > 0 || l.From != "") {
			c.valueAt([]string{"limits"}).
				Errorf("use the form limits: [{instructions: 2048, description: 2048}, {from: 1.2.0}]",
					"limits: entry %d must have a version in from, and must not be negative", i+1)
		}
	}
}

func (c checker) layers(layers []Layer) {
	layerValue := c.valueAt([]string{"layers"})
	if len(layers) == 0 {
		layerValue.Errorf("add extends: "+Runtime+", or the field layers", "layers is missing")
	}
	for i, l := range layers {
		if layerValue.IsList() && i < len(layerValue.Node.Content) {
			c.layer(layerValue.At(layerValue.Node.Content[i]), l)
		}
	}
}

func (c checker) layer(value yamlx.Value, l Layer) {
	if !isID(l.Name) {
		value.Errorf("use lowercase letters, digits, and single hyphens", "invalid layer name %q", l.Name)
	}
	if l.Depth < 0 || l.Depth > MaxDepth {
		value.Errorf("", "layer %s: depth is %d, but must be from 1 to %d", l.Name, l.Depth, MaxDepth)
	}
	all := slices.Clone(l.Dirs)
	for _, dirs := range l.OS {
		all = append(all, dirs...)
	}
	if len(all) == 0 {
		value.Errorf("", "dirs is missing in layer %s", l.Name)
	}
	for _, dir := range all {
		if !isLayerDir(dir) {
			value.Errorf("start the directory with ~/ for the home directory, ./ for the project, "+
				"or / or {enterprise}/ for the machine, or use {plugins}", "%q is not a valid directory of a layer", dir)
		}
	}
}

// isLayerDir reports whether a text is a valid layer directory.
func isLayerDir(dir string) bool {
	if slices.Contains(strings.FieldsFunc(dir, func(r rune) bool { return r == '/' || r == '\\' }), "..") {
		return false
	}
	for _, start := range []string{"~/", "./", "/", "{enterprise}/"} {
		if strings.HasPrefix(dir, start) {
			return true
		}
	}
	return dir == "{plugins}" || len(dir) > 3 && dir[1:3] == `:\`
}

func (c checker) layout(l Layout, entry []string, path ...string) {
	c.escape(l.Escape, path)
	c.template(l.Heading, frameValues, append(path, "heading")...)
	c.template(l.Entry, entry, append(path, "entry")...)
	c.template(l.Separator, nil, append(path, "separator")...)
	c.template(l.Closing, frameValues, append(path, "closing")...)
	c.template(l.Cut, frameValues, append(path, "cut")...)
	c.template(l.Empty, frameValues, append(path, "empty")...)
	c.template(l.More, []string{"count"}, append(path, "more")...)
	if l.Most < 0 {
		c.valueAt(append(path, "most")).Errorf("", "most is %d, but must not be negative", l.Most)
	}
}

func (c checker) escape(escape string, path []string) {
	c.oneOf(escape, []string{"", "none", "tags", "xml"}, append(path, "escape")...)
}

func (c checker) tool(t Tool, path ...string) {
	c.template(t.Description, []string{"tool", "file_tool", "find_tool"}, append(path, "description")...)
	for _, a := range t.Arguments {
		if a.Name == "" {
			c.valueAt(append(path, "arguments")).Errorf("", "an argument of %s does not have a name", t.Name)
		}
		c.oneOf(a.Takes, []string{"", "skill", "arguments", "path", "task", "line"}, append(path, "arguments")...)
	}
}

func (c checker) form(f *Form, path ...string) {
	c.escape(f.Escape, path)
	c.template(f.Text, resultValues, append(path, "text")...)
	c.layout(f.Files, fileValues, append(path, "files")...)
	c.leaves(&f.JSON, path)
}

// leaves checks the texts of a structured result.
func (c checker) leaves(n *yaml.Node, path []string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if err := templateError(n.Value, resultValues); err != nil {
			c.root.At(n).Errorf(diag.HintOf(err), "%s.json: %v", strings.Join(path, "."), err)
		}
	}
	for i, child := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			c.leaves(child, path)
		}
	}
}

func (c checker) template(text string, known []string, path ...string) {
	if err := templateError(text, known); err != nil {
		c.valueAt(path).Errorf(diag.HintOf(err), "%s: %v", strings.Join(path, "."), err)
	}
}

// templateError describes the error in a template with the given value names.
func templateError(text string, known []string) error {
	t, err := ParseTemplate(text)
	if err != nil {
		return err
	}
	for _, v := range t.Values() {
		if !slices.Contains(filters, v.Filter) {
			return diag.Errorf(diag.Invalid, "unknown {%s|%s}", v.Name, v.Filter).
				WithHint("use {%s}, {%s|quoted}, or {%s|trimmed}", v.Name, v.Name, v.Name)
		}
		if slices.Contains(known, v.Name) {
			continue
		}
		err := diag.Errorf(diag.Invalid, "unknown value {%s}", v.Name)
		if near := diag.Nearest(v.Name, known); near != "" {
			return err.WithHint("did you mean {%s}?", near)
		}
		return err.WithHint("%s", valuesHint(known))
	}
	return nil
}

func valuesHint(known []string) string {
	if len(known) == 0 {
		return "use plain text; write a literal brace as {{"
	}
	return fmt.Sprintf("use one of the values {%s}; write a literal brace as {{", strings.Join(known, "}, {"))
}
