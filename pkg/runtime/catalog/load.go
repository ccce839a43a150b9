package catalog

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// Loaded is a skill with its instructions, as SKILL.md has them now.
type Loaded struct {
	*Skill
	Front    Front
	Document *skill.Document
	Digest   string // "sha256:" and the SHA-256 of SKILL.md in hexadecimal
	Source   string // all of SKILL.md
	Body     string // what follows the frontmatter
}

// Front has the frontmatter fields about how a skill is used.
type Front struct {
	AllowedTools    []string // entries as written; each may hold several patterns, see package tool
	Restricts       bool     // whether there is a list of allowed tools, possibly empty
	DisallowedTools []string
	Agent, Model    string
	Arguments       []string // names of positional arguments
	Pre, Post       string   // scripts of hooks
	Command         string   // command to execute in place of the body
	Shell           string   // shell for the commands in the body
	Files           []skill.FileRef
	Toolsets        []string
	Execution       Execution
}

// Execution has the restrictions that a skill asks for its scripts.
type Execution struct {
	Sandbox      string   // as written: "true", "false", the name of a sandbox, or ""
	AllowedPaths []string // directories besides the skill's own; nil if unspecified
	Network      []string // "true", "false", "none", or network hosts; empty if unspecified
}

// Load reads SKILL.md now. The error has code NotFound if it is gone, and Invalid if it is no longer usable.
func (s *Skill) Load() (*Loaded, error) {
	data, err := readWhole(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "skill %s not found: %s does not exist", s.Name,
			filepath.Join(s.Dir, skill.File)).
			WithHint("list skills with: skillpm skills")
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "cannot read skill %s: %s: %s", s.Name,
			filepath.Join(s.Dir, skill.File), reason(err)).
			WithHint("%s", validateHint(s.Dir))
	}
	doc, problems := skill.Parse(data)
	var rec record
	if rec.check(doc, problems); rec.fatal != "" {
		return nil, diag.Errorf(diag.Invalid, "cannot use skill %s: %s:%d: %s", s.Name,
			filepath.Join(s.Dir, skill.File), max(rec.line, 1), rec.fatal).
			WithHint("%s", validateHint(s.Dir))
	}
	return &Loaded{
		Skill: s, Front: frontOf(doc), Document: doc, Digest: "sha256:" + textx.SHA256(data),
		Source: string(data), Body: string(doc.Body()),
	}, nil
}

// validateHint returns the command that explains why a skill is unusable.
func validateHint(dir string) string {
	return "show the problem and its fix with: skillpm validate " + dir
}

// readWhole returns the SKILL.md of a directory. It follows no link that leads out of it.
func readWhole(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	f, err := openRegular(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, skill.MaxFile+1))
	if err == nil && len(data) > skill.MaxFile {
		err = diag.Errorf(diag.Invalid, "SKILL.md is larger than %d bytes", skill.MaxFile)
	}
	return data, err
}

// ParseFile reads the frontmatter of one SKILL.md by the rules of a profile. The error has code NotFound if there is no
// file, and Invalid if the profile skips the skill.
func ParseFile(path string, p *profile.Profile) (*Skill, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	data, err := readWhole(dir)
	if filepath.Base(path) != skill.File || errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Errorf(diag.NotFound, "no skill found at %s", path).
			WithHint("use the path of a %s file", skill.File)
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", path, reason(err))
	}
	b := builder{catalog: &Catalog{}, profile: p, candidates: make([]candidate, 0, 1), skills: make([]Skill, 0, 1)}
	r := &root{dir: filepath.Dir(dir), real: filepath.Dir(dir)}
	c := b.addSkill(0, r, &branch{dir: filepath.Dir(dir) + string(filepath.Separator)},
		&node{name: filepath.Base(dir), record: newRecord(data)})
	if c.entry.State == Skipped {
		return nil, diag.Errorf(diag.Invalid, "%s: %s", path, c.entry.Reason).
			WithHint("%s", c.entry.fix)
	}
	return c.entry.Skill, nil
}

// frontOf reads the fields of [Front].
func frontOf(doc *skill.Document) Front {
	f := Front{
		Agent: doc.Text("agent"), Model: doc.Text("model"), Command: skill.Program(doc.Command()),
		Shell: doc.Text("shell"), Files: doc.Files(),
		DisallowedTools: texts(lookup(doc, disallowedTools), ""), Arguments: texts(lookup(doc, "arguments"), " "),
		Toolsets: texts(lookup(doc, "toolsets"), ","),
	}
	if v := lookup(doc, allowedTools); v != nil {
		f.AllowedTools, f.Restricts = texts(v, ""), true
	}
	if v := lookup(doc, "hooks"); v != nil {
		f.Pre, f.Post = skill.ScalarText(mappingValue(v, "pre")), skill.ScalarText(mappingValue(v, "post"))
	}
	if v := lookup(doc, "execution"); v != nil {
		f.Execution = Execution{
			Sandbox:      skill.ScalarText(mappingValue(v, "sandbox")),
			AllowedPaths: texts(mappingValue(v, "allowed-paths"), ""), Network: texts(mappingValue(v, "network"), ""),
		}
		if n := mappingValue(v, "allowed-paths"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			f.Execution.AllowedPaths = []string{}
		}
		if n := mappingValue(v, "network"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			f.Execution.Network = []string{"none"}
		}
	}
	return f
}

// mappingValue returns the value of a key of a mapping, or nil.
func mappingValue(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return follow(n.Content[i+1])
		}
	}
	return nil
}

// texts returns the items of a list, or of a text with separators. For an item that YAML parses as a mapping, such as
// `- Bash(git: *)`, it returns the source text.
func texts(n *yaml.Node, separator string) []string {
	if n == nil {
		return nil
	}
	var list []string
	add := func(s string) {
		if s = strings.Trim(s, " \t\r\n"); s != "" {
			list = append(list, s)
		}
	}
	switch n.Kind {
	case yaml.ScalarNode:
		switch text := skill.ScalarText(n); separator {
		case "":
			add(text)
		case " ":
			list = strings.Fields(text)
		default:
			for part := range strings.SplitSeq(text, separator) {
				add(part)
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item = follow(item); item.Kind == yaml.MappingNode && len(item.Content) == 2 {
				add(skill.ScalarText(item.Content[0]) + ": " + skill.ScalarText(item.Content[1]))
				continue
			}
			add(skill.ScalarText(item))
		}
	}
	return list
}
