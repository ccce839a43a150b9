package policy

import "github.com/skillpm/skillpm/pkg/internal/yamlx"

// ruleLines returns where the rules of a policy are in its file.
func ruleLines(root yamlx.Value) RuleLines {
	line := func(keys ...string) int { return root.Get(keys...).Line() }
	each := func(keys ...string) []int { return itemLines(root.Get(keys...)) }
	return RuleLines{
		SkillsDeny: each("skills", "deny"), Forbid: each("forbid"), Approve: each("approve"), FailOn: each("lint", "fail_on"),
		Files: line("limits", "files"), FileBytes: line("limits", "file_bytes"), TotalBytes: line("limits", "total_bytes"),
		PathBytes: line("limits", "path_bytes"), Depth: line("limits", "depth"),
		Downgrade: line("downgrade"), Audit: line("audit"), AllowedTools: line("allowed-tools"), Hooks: line("hooks"),
		Approvers: line("approvers"), Execution: line("execution"),
	}
}

// itemLines returns the lines of the entries of a list.
func itemLines(v yamlx.Value) (lines []int) {
	if v.IsList() {
		for _, item := range v.Node.Content {
			lines = append(lines, item.Line)
		}
	}
	return lines
}
