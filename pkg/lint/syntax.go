package lint

import (
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/syntax"
)

// syntax reports a script or a data file that cannot be read as what its name says.
func (u *unit) syntax(f *file) {
	if !f.isText() {
		return
	}
	id, check := rule.ShellSyntax, syntax.Shell
	switch ext := strings.ToLower(path.Ext(f.rel)); {
	case ext == ".json", ext == ".jsonl", ext == ".ndjson":
		id, check = rule.JSONSyntax, syntax.JSON
	case ext == ".yaml", ext == ".yml":
		id, check = rule.YAMLSyntax, syntax.YAML
	case ext == ".sh", ext == ".bash", ext == ".zsh", ext == "" && isShebang(f.data):
	default:
		return
	}
	if p := check(f.rel, f.data); p != nil {
		u.add(finding{rule: id, src: f.source, line: p.Line, column: p.Column, message: p.Message})
	}
}
