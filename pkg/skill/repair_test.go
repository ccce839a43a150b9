package skill_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// TestRepair covers rows S1 and S3 of the specification: one finding for a cause, with its position and a message for
// frequent mistakes, and a fix that gives the field the value that was meant.
func TestRepair(t *testing.T) {
	for _, tt := range []struct {
		name    string
		text    string // of the frontmatter, with a name before it
		line    int    // of the only problem
		message string
		want    string // the description after the repair; "" for none
	}{
		{
			"colon", "description: Reads logs: fast\n", 3,
			"a value without quotes contains a colon and a space", "Reads logs: fast",
		},
		{"bold", "description: **Bold** text\n", 3, "a value without quotes cannot start with *", "**Bold** text"},
		{"italic", "description: *all* logs\n", 3, "a value without quotes cannot start with *", "*all* logs"},
		{"alias", "description: *logs\n", 3, "a value without quotes cannot start with *", "*logs"},
		{"ampersand", "description: & more\n", 3, "a value without quotes cannot start with &", "& more"},
		{"at sign", "description: @team reads logs\n", 3, "a value without quotes cannot start with @", "@team reads logs"},
		{"backtick", "description: `jq` for logs\n", 3, "a value without quotes cannot start with `", "`jq` for logs"},
		{"percent", "description: %d logs\n", 3, "a value without quotes cannot start with %", "%d logs"},
		{
			"bracket", "description: [Beta] Reads logs\n", 3, "unexpected text after the closing bracket of a value",
			"[Beta] Reads logs",
		},
		{
			"text after a quote", "description: \"Fast\" logs\n", 3, "unexpected text after the closing quote of a value",
			`"Fast" logs`,
		},
		{
			"quoted words", "description: \"one\" and \"two\"\n", 3, "unexpected text after the closing quote of a value",
			`"one" and "two"`,
		},
		{
			"quotes in quotes", "description: \"Reads \"all\" logs\"\n", 3,
			"unexpected text after the closing quote of a value", `Reads "all" logs`,
		},
		{
			"apostrophe", "description: 'It's a log'\n", 3, "unexpected text after the closing quote of a value",
			"It's a log",
		},
		{
			"backslash", `description: "Finds \d+ in logs"` + "\n", 3, "unknown escape sequence in a double-quoted value",
			`Finds \d+ in logs`,
		},
		{"open quote", "description: \"Reads logs\n", 3, "the closing quote of the value is missing", "Reads logs"},
		{
			"folded on one line", "description: > Reads logs: fast\n", 3,
			"unexpected text after >, whose text starts on the next line", "Reads logs: fast",
		},
		{
			"folded with text", "description: > Reads logs\n  fast, and writes: reports\n", 3,
			"unexpected text after >, whose text starts on the next line", "Reads logs fast, and writes: reports",
		},
		{
			"colon below", "description: Reads logs\n  and writes: reports\n", 4,
			"a value without quotes contains a colon and a space", "Reads logs and writes: reports",
		},
		{
			"not indented", "description: >\nReads logs\nfast\nlicense: MIT\n", 4,
			"expected a key followed by a colon", "Reads logs fast",
		},
		{
			"dialog", "description: Reads logs: fast\nNote: \"a\" b\nuser: \"read\" the log\nassistant: \"yes\" sir\n" +
				"user: \"more\" logs\n<example>\nlicense: MIT\n", 3,
			"a value without quotes contains a colon and a space", "",
		},
		{
			"Markdown", "description: |\n  Reads logs\n\n## Steps\n**Note:** read all\n```\n", 7, "this line is not YAML", "",
		},
		{
			"conflict", "description: Reads\n<<<<<<< main\nlicense: MIT\n=======\nlicense: BSD\n>>>>>>> topic\n", 4,
			"unresolved merge conflict", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, eol := range []string{"\n", "\r\n"} {
				in := strings.ReplaceAll("---\nname: logs\n"+tt.text+"---\nBody\n", "\n", eol)
				doc, problems := skill.Parse([]byte(in))
				if len(problems) == 0 || problems[0].Line != tt.line || problems[0].Message != tt.message {
					t.Fatalf("got %+v, want %q on line %d", problems, tt.message, tt.line)
				}
				data, ok := doc.Repair(tt.line)
				if ok != (tt.want != "") {
					t.Fatalf("Repair: %v\n%s", ok, data)
				}
				if !ok {
					continue
				}
				if len(problems) != 1 {
					t.Errorf("got %d problems, want 1: %+v", len(problems), problems)
				}
				fixed, after := skill.Parse(data)
				if got := fixed.Description(); got != tt.want || len(after) > 0 {
					t.Errorf("got %q, want %q: %+v\n%s", got, tt.want, after, data)
				}
				if fixed.Name() != "logs" || string(fixed.Body()) != "Body"+eol || fixed.License() != doc.License() {
					t.Errorf("the repair changed something else:\n%s", data)
				}
			}
		})
	}
}

// TestRepairList covers row S1: a list with the bullets of Markdown.
func TestRepairList(t *testing.T) {
	doc, problems := skill.Parse([]byte("---\nname: logs\ndescription: D.\ntriggers:\n\n* \"read logs\"\n* 'all'\n---\n"))
	const want = "in YAML, the entries of a list start with -, not with *"
	if len(problems) != 1 || problems[0].Line != 6 || problems[0].Message != want {
		t.Fatalf("got %+v, want %q", problems, want)
	}
	data, ok := doc.Repair(6)
	if string(data) != "---\nname: logs\ndescription: D.\ntriggers:\n\n- \"read logs\"\n- 'all'\n---\n" || !ok {
		t.Errorf("got %v\n%s", ok, data)
	}
}
