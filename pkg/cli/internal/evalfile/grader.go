package evalfile

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// graders reads the graders of an entry.
func (p *parser) graders(list value, e *entry) {
	if !list.isArray() {
		p.wrongf(list, "graders must be a list")
	}
	for _, m := range list.members() {
		v := valueOf(m)
		var g Grader
		if err := jsonx.Decode(v.raw, &g, jsonx.Options{KnownFields: true}); err != nil {
			p.wrong(v, schemaHint, "the grader is invalid: %s", err)
			continue
		}
		if problem := g.problem(); problem != "" {
			p.wrongf(v, "%s", problem)
			continue
		}
		if g.Expected != "" && !p.isFile(g.Expected) {
			p.wrongf(v, "the grader's expected file %s does not exist in the skill", g.Expected)
			continue
		}
		e.Graders = append(e.Graders, g)
	}
}

// problem describes a contradiction in a grader, or returns "".
func (g *Grader) problem() string {
	required, optional := g.fields()
	if required == nil {
		return "unknown grader type \"" + textx.Truncate(string(g.Type), 40) + "\": use " + textx.Or(graderTypes)
	}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"text", g.Text != nil},
		{"pattern", g.Pattern != ""},
		{"file", g.File != ""},
		{"expected", g.Expected != ""},
		{"command", len(g.Command) > 0},
		{"exit", g.Exit != 0},
		{"not", g.Not},
	} {
		switch needed := slices.Contains(required, f.name); {
		case needed && !f.has:
			return "a grader of the type " + string(g.Type) + " needs " + f.name
		case f.has && !needed && !slices.Contains(optional, f.name):
			return "a grader of the type " + string(g.Type) + " cannot have " + f.name
		}
	}
	switch {
	case g.Type == FileEquals && (g.Text != nil) == (g.Expected != ""):
		return "a grader of the type file-equals needs either text or expected"
	case g.File != "" && !isPath(g.File):
		return "the grader's file must be a path inside the project, with forward slashes"
	case g.Expected != "" && !isPath(g.Expected):
		return "the grader's expected file must be a path inside the skill, with forward slashes"
	case g.Type == Judge && strings.TrimSpace(*g.Text) == "":
		return "the statement of the grader is empty"
	case g.Type == Command && g.Command[0] == "":
		return "the grader's command does not name a program"
	}
	if g.Pattern != "" {
		if _, err := regexp.Compile(g.Pattern); err != nil {
			return "the grader's pattern is not a regular expression: " + diag.TextOf(err)
		}
	}
	return ""
}

// fields returns the fields that the grader's type requires and allows, or nil for an unknown type.
func (g *Grader) fields() (required, optional []string) {
	switch g.Type {
	case Exact:
		return []string{"text"}, []string{"file", "not"}
	case Regexp:
		return []string{"pattern"}, []string{"file", "not"}
	case FileExists:
		return []string{"file"}, []string{"not"}
	case FileEquals:
		return []string{"file"}, []string{"text", "expected", "not"}
	case Command:
		return []string{"command"}, []string{"exit"}
	case Judge:
		return []string{"text"}, []string{}
	}
	return nil, nil
}

// isPath reports whether a path is valid below a directory.
func isPath(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, `\`)
}

func (p *parser) isFile(name string) bool {
	info, err := fs.Stat(p.skill, name)
	return err == nil && info.Mode().IsRegular()
}

// files reads the input files of an entry: paths of files and directories, relative to the skill or to the directory of
// the evaluation file. In the project, a file has its path below evals/files, or else the path that the entry has.
func (p *parser) files(list value, e *entry) {
	if !list.isArray() {
		p.wrongf(list, "files must be a list of paths")
	}
	for _, m := range list.members() {
		v := valueOf(m)
		name := path.Clean(p.text(v, "a path in files"))
		if !isPath(name) {
			p.wrongf(v, "files: %s is not a path inside the skill, with forward slashes", m.Value)
			continue
		}
		source := name
		if _, err := fs.Stat(p.skill, source); err != nil {
			source = path.Join(Dir, name)
		}
		if _, err := fs.Stat(p.skill, source); err != nil {
			p.wrongf(v, "files: the skill does not contain %s", name)
			continue
		}
		e.Files = append(e.Files, File{Source: source, Target: target(source)})
	}
}

// target returns the path of an input file in the project.
func target(source string) string {
	if source == Dir+"/files" {
		return "."
	}
	for _, dir := range []string{Dir + "/files/", Dir + "/"} {
		if rest, ok := strings.CutPrefix(source, dir); ok {
			return rest
		}
	}
	return source
}

// fixture reads the directory that the project is a copy of.
func (p *parser) fixture(v value) string {
	name := p.text(v, "fixture")
	for _, dir := range []string{name, path.Join(Dir, name)} {
		if info, err := fs.Stat(p.skill, dir); isPath(name) && err == nil && info.IsDir() {
			return dir
		}
	}
	p.wrongf(v, "fixture: %q is not a directory of the skill", name)
	return ""
}
