package pack

import (
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/yamlx"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxRequires limits the entries of each list.
const maxRequires = 32

// requirements reads the requires section of a manifest.
func requirements(v yamlx.Value) (r skill.Requirements) {
	for key, v := range v.Fields("bins", "env", "mcp", "os") {
		if v.IsBlank() {
			continue
		}
		var (
			kind string
			list *[]string
		)
		switch key {
		case "bins":
			kind, list = skill.RequiresBin, &r.Bins
		case "env":
			kind, list = skill.RequiresEnv, &r.Env
		case "mcp":
			kind, list = skill.RequiresMCP, &r.MCP
		default:
			kind, list = skill.RequiresOS, &r.OS
		}
		v = v.Named("requires." + key)
		names := yamlx.ListOf(v, func(s string) (string, error) {
			name, ok := skill.CheckRequirement(kind, s)
			if !ok {
				return "", diag.Errorf(diag.Invalid, "invalid name %q in requires.%s", s, key).
					WithHint("use a plain name, such as git, API_TOKEN, or linux")
			}
			return name, nil
		})
		if len(names) > maxRequires {
			v.Errorf("keep the most important names", "requires.%s has %d entries; the limit is %d", key, len(names),
				maxRequires)
			names = names[:maxRequires]
		}
		*list = names
	}
	return r
}
