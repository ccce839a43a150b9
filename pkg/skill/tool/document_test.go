package tool_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

var update = flag.Bool("update", false, "write the table of docs/reference/agents.md")

const document = "../../../docs/reference/agents.md"

func readDocument(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestDocumentedTable checks that the agents' tool names in docs/reference/agents.md match the table.
func TestDocumentedTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n\n| tool | argument | other names |\n|---|---|---|\n")
	for _, row := range tool.Table() {
		kind := row.Kind
		if row.With != "" {
			kind = "allowed together with `" + row.With + "`"
			if row.Whole {
				kind = "allowed if `" + row.With + "` is allowed without a pattern"
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", row.Name, kind, code(row.Names))
	}
	b.WriteString("| `Edit`, `Write` | the files of a patch | `apply_patch` `applyPatch` `ApplyPatch` `patch` |\n")
	b.WriteString("| `Read`, `Edit`, `Write` | file, depending on `command` | `str_replace_editor` `str_replace_based_edit_tool` `text_editor` `developer__text_editor` `fs_write` |\n\n")
	text := readDocument(t)
	before, rest, ok := strings.Cut(text, " -update writes it -->")
	_, after, found := strings.Cut(rest, "<!-- end -->")
	if !ok || !found {
		t.Fatal("docs/reference/agents.md has no place for the table")
	}
	want := before + " -update writes it -->" + b.String() + "<!-- end -->" + after
	if *update {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if text != want {
		t.Error("docs/reference/agents.md has another table: go test ./pkg/skill/tool -run TestDocumentedTable -update writes it")
	}
}

func code(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` `") + "`"
}

// TestDocumentedPatterns checks that the statements of docs/reference/agents.md about patterns are true.
func TestDocumentedPatterns(t *testing.T) {
	quoted := regexp.MustCompile("`([^`]+)`")
	fields := map[string]string{"Bash": "command", "Read": "file_path", "WebFetch": "url", "Task": "subagent_type"}
	tried := 0
	for line := range strings.Lines(readDocument(t)) {
		cells := strings.Split(strings.TrimSpace(strings.ReplaceAll(line, "||", "\x01")), "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " `") || !strings.Contains(cells[1], "(") {
			continue
		}
		list := patterns(t, quoted.FindStringSubmatch(cells[1])[1])
		for i, want := range []bool{true, false} {
			for _, m := range quoted.FindAllStringSubmatch(cells[2+i], -1) {
				name := list[0].Tool
				input := map[string]any{fields[name]: strings.NewReplacer("{project}", "/p", "{home}", "/home/u").Replace(m[1])}
				v := tool.Of(list).Allow(tool.Call{Tool: name, Input: input, Project: "/p", Home: "/home/u"})
				if v.Allowed != want {
					t.Errorf("%s with %v: allowed %v, and docs/reference/agents.md says %v (%s)", list[0], input, v.Allowed, want, v.Reason)
				}
				tried++
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d examples were tried", tried)
	}
}
