package lint_test

import (
	"testing"
	"testing/fstest"
)

// TestTemplateText checks which text counts as the template's: a sentence at the start of a line, in any file.
func TestTemplateText(t *testing.T) {
	const found = `STR017 warning this text is from the template of "skillpm new": `
	tests := []struct{ name, body, script, want string }{
		{
			"steps", "1. Write the agent's first step as an instruction.\n2. Describe how the agent checks the result. Soon.\n", "",
			"deploy/SKILL.md:5:4 " + found + "\"Write the agent's first step as an instruction.\"\n" +
				"deploy/SKILL.md:6:4 " + found + `"Describe how the agent checks the result."`,
		},
		{"quoted", "Replace \"Describe how the agent checks the result.\" in the file.\n", "", ""},
		{"part", "1. Describe how the agent checks the outcome.\n", "", ""},
		{
			"script", "Run [it](scripts/a.sh).\n", "#!/bin/sh\n# Describe what this script checks. And more.\n",
			"deploy/scripts/a.sh:2:3 " + found + `"Describe what this script checks."`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{"deploy/SKILL.md": {Data: []byte(head + tt.body)}}
			if tt.script != "" {
				files["deploy/scripts/a.sh"] = &fstest.MapFile{Data: []byte(tt.script), Mode: 0o755}
			}
			got, _ := run(t, files)
			compare(t, got, tt.want)
		})
	}
}
