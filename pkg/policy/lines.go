package policy

import "go.yaml.in/yaml/v3"

// ruleLines returns where the rules of a policy are in its file.
func ruleLines(root *yaml.Node) RuleLines {
	at := func(keys ...string) int {
		n := root
		for _, key := range keys {
			if n = lookup(n, key); n == nil {
				return 0
			}
		}
		return n.Line
	}
	each := func(keys ...string) (lines []int) {
		n := root
		for _, key := range keys {
			if n = lookup(n, key); n == nil {
				return nil
			}
		}
		for _, item := range n.Content {
			lines = append(lines, item.Line)
		}
		return lines
	}
	return RuleLines{
		SkillsDeny: each("skills", "deny"), Forbid: each("forbid"), Approve: each("approve"), FailOn: each("lint", "fail_on"),
		Files: at("limits", "files"), FileBytes: at("limits", "file_bytes"), TotalBytes: at("limits", "total_bytes"),
		PathBytes: at("limits", "path_bytes"), Depth: at("limits", "depth"),
		Downgrade: at("downgrade"), Audit: at("audit"), AllowedTools: at("allowed-tools"), Hooks: at("hooks"), Approvers: at("approvers"), Execution: at("execution"),
	}
}
