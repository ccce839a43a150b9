package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/syntax"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// maxFile is the maximum size of a policy in bytes.
const maxFile = 1 << 20

const versionHint = "add version: 1 as the first line"

var fileFormat = yamlx.Format{
	Name: "the policy", MaxBytes: maxFile, Forbidden: isControl, RootHint: versionHint,
	Explain: func(path string, data []byte) *Problem {
		if found := syntax.YAML(path, data); found != nil {
			return &Problem{Line: found.Line, Column: found.Column, Message: found.Message}
		}
		return nil
	},
}

// read reads a file and checks its version.
func read(path string, data []byte, format yamlx.Format) (yamlx.Value, *yamlx.Reader) {
	r := yamlx.Read(path, data, format)
	root, ok := r.Root()
	if ok && !root.Exists() {
		r.Add(Problem{Line: 1, Column: 1, Message: "the policy is empty", Hint: versionHint})
	}
	return root, r
}

// invalid returns the error for a file with problems, or nil.
func invalid(path string, r *yamlx.Reader) error {
	if problems := r.Problems(); len(problems) > 0 {
		return &InvalidError{Path: path, Problems: problems}
	}
	return nil
}

// Parse parses a policy. The error is an [*InvalidError] with all problems of the file.
func Parse(path string, data []byte) (*Policy, error) {
	p, r := parse(path, data)
	if err := invalid(path, r); err != nil {
		return nil, err
	}
	return p, nil
}

// Check returns all problems of a policy in the order of the file. [Parse] accepts a policy without problems.
func Check(path string, data []byte) []Problem {
	_, r := parse(path, data)
	return r.Problems()
}

func parse(path string, data []byte) (*Policy, *yamlx.Reader) {
	p := &Policy{Path: path, Mode: Enforce, Downgrade: DenyDowngrade}
	root, r := read(path, data, fileFormat)
	if root.Exists() {
		p.root = root
		p.read(root)
	}
	return p, r
}

func (e *InvalidError) text() string {
	first := e.Problems[0]
	position := textx.Position(e.Path, first.Line)
	if first.Column > 0 {
		position = fmt.Sprintf("%s:%d:%d", e.Path, first.Line, first.Column)
	}
	text := position + ": " + first.Message
	if more := len(e.Problems) - 1; more == 1 {
		text += ", and one more problem"
	} else if more > 1 {
		text += fmt.Sprintf(", and %d more problems", more)
	}
	return text
}

// Line returns the line of a key, such as "sources.allow", or of an entry of the list there; 0 if the file does not
// have it.
func (p *Policy) Line(key string, index ...int) int {
	v := p.root.Get(strings.Split(key, ".")...)
	switch {
	case len(index) == 0:
		return v.Line()
	case v.IsList() && index[0] < len(v.Node.Content):
		return v.Node.Content[index[0]].Line
	}
	return 0
}

// OnlyDenies reports whether the file has no rules but denials of skills, as [Deny] creates it. Such a file is no
// stricter than no file in everything else, and "downgrade: allow" keeps it so.
func (p *Policy) OnlyDenies() bool {
	for k := range yamlx.Pairs(p.root.Node) {
		if k.Value != "version" && k.Value != "downgrade" && k.Value != "skills" {
			return false
		}
	}
	return p.Skills.Allow == nil
}

// LimitsLine returns the line of the last limit, 0 if there is none.
func (p *Policy) LimitsLine() (line int) {
	for _, v := range yamlx.Pairs(p.root.Get("limits").Node) {
		line = max(line, v.Line)
	}
	return line
}

func (p *Policy) read(root yamlx.Value) {
	root.Each(map[string]func(yamlx.Value){
		"version":       func(v yamlx.Value) { p.Version = version(v) },
		"mode":          oneOf(&p.Mode, Observe, Enforce),
		"require":       func(v yamlx.Value) { p.Require = requirements(v) },
		"forbid":        func(v yamlx.Value) { p.Forbid = capabilities(v) },
		"approve":       func(v yamlx.Value) { p.Approve = capabilities(v) },
		"limits":        p.Limits.read,
		"downgrade":     oneOf(&p.Downgrade, DenyDowngrade, AllowDowngrade),
		"audit":         func(v yamlx.Value) { p.Audit = audit(v) },
		"allowed-tools": oneOf(&p.AllowedTools, Restrict, Grant),
		"approvers":     oneOf(&p.Approvers, OwnApprovers, UserApprovers),
		"sources": mapping(map[string]func(yamlx.Value){
			"allow": listOf(&p.Sources.Allow, parsePattern),
			"deny":  listOf(&p.Sources.Deny, parsePattern),
		}),
		"skills": mapping(map[string]func(yamlx.Value){
			"allow": listOf(&p.Skills.Allow, parseSkillPattern),
			"deny":  listOf(&p.Skills.Deny, parseSkillPattern),
		}),
		"authoring": p.Authoring.read,
		"advisories": mapping(map[string]func(yamlx.Value){
			"vulnerable": oneOf(&p.Advisories.Vulnerable, WarnVulnerable, DenyVulnerable),
			"required":   func(v yamlx.Value) { p.Advisories.Required = v.Bool() },
		}),
		"updates": mapping(map[string]func(yamlx.Value){
			"capability-increase": oneOf(&p.Updates.CapabilityIncrease, AskIncrease, DenyIncrease),
		}),
		"lint":  mapping(map[string]func(yamlx.Value){"fail_on": listOf(&p.Lint.FailOn, parseRule)}),
		"hooks": mapping(map[string]func(yamlx.Value){"unreadable": oneOf(&p.Hooks.Unreadable, Closed, Open)}),
		"execution": mapping(map[string]func(yamlx.Value){
			"sandbox":     oneOf(&p.Execution.Sandbox, SandboxRequested, SandboxAlways),
			"unavailable": oneOf(&p.Execution.Unavailable, RefuseUnconfined, AllowUnconfined),
			"network":     listOf(&p.Execution.Network, parseHost),
			"paths":       listOf(&p.Execution.Paths, parseScriptPath),
		}),
		"publish": mapping(map[string]func(yamlx.Value){
			"allow": listOf(&p.Publish.Allow, parsePattern),
			"sign":  oneOf(&p.Publish.Sign, SignRequired, SignOptional),
		}),
	})
	if !root.Get("version").Exists() {
		root.Errorf(versionHint, "the policy does not have a version")
	}
	approve := root.Get("approve")
	if !approve.IsList() {
		return
	}
	for item := range approve.Items() {
		if item.IsScalar() && slices.Contains(p.Forbid, Capability(item.Node.Value)) {
			item.Errorf("remove the capability from approve or from forbid", "%s is in both approve and forbid",
				item.Node.Value)
		}
	}
}

// mapping returns a function that reads a mapping with a function for each key.
func mapping(fields map[string]func(yamlx.Value)) func(yamlx.Value) {
	return func(v yamlx.Value) { v.Each(fields) }
}

// oneOf returns a function that reads one of some words.
func oneOf[T ~string](into *T, words ...T) func(yamlx.Value) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return func(v yamlx.Value) { *into = T(v.OneOf(texts...)) }
}

// listOf returns a function that reads a list with a function for each item.
func listOf[T comparable](into *[]T, parse func(string) (T, error)) func(yamlx.Value) {
	return func(v yamlx.Value) { *into = yamlx.ListOf(v, parse) }
}

func (l *Limits) read(v yamlx.Value) {
	bytes := func(into *int64) func(yamlx.Value) { return func(v yamlx.Value) { *into = byteSize(v) } }
	v.Each(map[string]func(yamlx.Value){
		"files":       func(v yamlx.Value) { l.Files = v.Int(0) },
		"depth":       func(v yamlx.Value) { l.Depth = v.Int(0) },
		"file_bytes":  bytes(&l.FileBytes),
		"total_bytes": bytes(&l.TotalBytes),
		"path_bytes":  bytes(&l.PathBytes),
	})
	if l.TotalBytes > 0 && l.FileBytes > l.TotalBytes {
		v.Get("file_bytes").Errorf("", "file_bytes is larger than total_bytes")
	}
}

func audit(v yamlx.Value) *Audit {
	var a Audit
	v.Each(map[string]func(yamlx.Value){
		"path":     func(v yamlx.Value) { a.Path = v.Text(checkLogPath) },
		"required": func(v yamlx.Value) { a.Required = v.Bool() },
		"team":     func(v yamlx.Value) { a.Team = v.Text(checkTeam) },
	})
	return &a
}

// requirements reads the list of requirements for packs.
func requirements(v yamlx.Value) []Requirement {
	var all []Requirement
	for item := range v.Items() {
		all = append(all, requirement(item))
	}
	return all
}

func requirement(v yamlx.Value) Requirement {
	q := Requirement{Line: v.Line()}
	v.Each(map[string]func(yamlx.Value){
		"match":           func(v yamlx.Value) { q.Match = yamlx.As(v, parsePattern) },
		"signatures":      func(v yamlx.Value) { q.Signatures = signatures(v) },
		"min_release_age": func(v yamlx.Value) { q.MinReleaseAge = yamlx.As(v, parseAge) },
	})
	v.Require(`write match: "oci://registry.example/acme/**"`, "match")
	if v.IsMapping() && !v.Get("signatures").Exists() && !v.Get("min_release_age").Exists() {
		v.Errorf("add signatures or min_release_age, or remove the entry", "%s does not have requirements", v.Name)
	}
	return q
}

func signatures(v yamlx.Value) *Signatures {
	s := Signatures{Threshold: 1}
	v.Each(map[string]func(yamlx.Value){
		"threshold": func(v yamlx.Value) { s.Threshold = int(v.Int(0)) },
		"any_of":    func(v yamlx.Value) { s.AnyOf = signers(v) },
	})
	v.Require(`write any_of: [{key: {file: keys/acme.pub, sha256: "…"}}]`, "any_of")
	anyOf, threshold := v.Get("any_of"), v.Get("threshold")
	switch {
	case !anyOf.IsList():
	case len(anyOf.Node.Content) == 0:
		anyOf.Errorf("list at least one key or identity", "any_of is empty, so no signature can match")
	case threshold.Exists() && s.Threshold > len(anyOf.Node.Content):
		threshold.Errorf("", "threshold is %d, but any_of has only %s", s.Threshold,
			textx.CountOf(len(anyOf.Node.Content), "entry", "entries"))
	}
	return &s
}

// signers reads keys and identities. It rejects duplicates, because one signer could then reach a threshold of two.
func signers(v yamlx.Value) []Signer {
	var all []Signer
	lines := make(map[string]int)
	for item := range v.Items() {
		signer := readSigner(item)
		id := signer.id()
		if line := lines[id]; line > 0 && id != "" {
			item.Errorf("remove one of the entries", "any_of lists this signer twice, first on line %d", line)
			continue
		}
		all, lines[id] = append(all, signer), item.Line()
	}
	return all
}

func readSigner(v yamlx.Value) (s Signer) {
	kinds := 0
	kind := func(read func(yamlx.Value)) func(yamlx.Value) {
		return func(v yamlx.Value) {
			kinds++
			read(v)
		}
	}
	var job publisher
	v.Each(map[string]func(yamlx.Value){
		"identity": kind(func(v yamlx.Value) { s.Identity = identity(v) }),
		"key": kind(func(v yamlx.Value) {
			s.Key = &Key{}
			pinned(v, "file", "keys/acme.pub", &s.Key.File, &s.Key.SHA256)
		}),
		pack.GitHub: kind(func(v yamlx.Value) { job.repository(pack.GitHub, v) }),
		pack.GitLab: kind(func(v yamlx.Value) { job.repository(pack.GitLab, v) }),
		"workflow":  job.text(&job.Workflow),
		"ref":       job.text(&job.Ref),
		"host":      job.text(&job.Host),
		"ssh": kind(func(v yamlx.Value) {
			s.SSH = &SSH{}
			pinned(v, "allowed_signers", "keys/allowed_signers", &s.SSH.AllowedSigners, &s.SSH.SHA256)
		}),
	})
	switch {
	case kinds > 1:
		v.Errorf("use one entry for each signer", "%s has more than one of key, identity, github, gitlab, and ssh",
			v.Name)
	case kinds == 0 && v.IsMapping():
		v.Errorf("write {key: {file: …, sha256: …}}, {identity: {issuer: …, subject: …}}, "+
			"{github: OWNER/REPO, workflow: FILE}, {gitlab: GROUP/PROJECT}, or {ssh: {allowed_signers: …, sha256: …}}",
			"%s does not have a key, identity, github, gitlab, or ssh", v.Name)
	case job.System == "" && job.limit != "":
		v.Get(job.limit).Errorf("", "%s applies only to github and gitlab", job.limit)
	case job.System != "":
		s.Identity = job.identity(v)
	}
	return s
}

// pinned reads a mapping with a file and its digest.
func pinned(v yamlx.Value, name, example string, file, sha256 *string) {
	v.Each(map[string]func(yamlx.Value){
		"sha256": func(v yamlx.Value) { *sha256 = v.Text(checkSHA256) },
		name: func(v yamlx.Value) {
			*file = v.Text(func(s string) error {
				if s == "" || strings.Contains(s, `\`) || strings.HasSuffix(s, "/") || hasDots(s) {
					hint := "use a path relative to the policy, with forward slashes and without .., such as " + example
					return wrong(hint, "%q is not the path of a file", s)
				}
				return nil
			})
		},
	})
	v.Require("write "+v.Name+": {"+name+": "+example+", sha256: …}", name, "sha256")
}
