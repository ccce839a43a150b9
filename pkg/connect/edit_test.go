package connect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/tailscale/hujson"
	"pgregory.net/rapid"
)

// planFor returns the plan for an agent's first file with a given format.
func planFor(t testing.TB, kind Kind, id string) plan {
	t.Helper()
	h, err := Find(id, kind)
	if err != nil {
		t.Fatal(err)
	}
	return plan{agent: h, kind: kind, target: h.configFiles(kind)[0], program: "/opt/skillpm/bin/skillpm", goos: "linux", blocks: true}
}

// roundTrip installs into a text and removes again without the saved original.
func roundTrip(t testing.TB, p plan, before string) (installed, removed string) {
	t.Helper()
	d, err := open(p.target.format(), []byte(before))
	if err != nil {
		t.Fatalf("%q: %v", before, err)
	}
	values, err := d.values()
	if err != nil {
		t.Fatalf("%q: %v", before, err)
	}
	if err := p.install(d); err != nil {
		t.Fatalf("%q: %v", before, err)
	}
	installed = string(d.bytes())
	again, err := open(p.target.format(), d.bytes())
	if err != nil {
		t.Fatalf("%q became %q: %v", before, installed, err)
	}
	now, err := again.values()
	if err != nil {
		t.Fatalf("%q became %q: %v", before, installed, err)
	}
	if s, why := p.state(now); s != Installed {
		t.Fatalf("%q became %q: %s %s", before, installed, s, why)
	}
	if !same(p.others(values), p.others(now)) {
		t.Fatalf("%q became %q: others changed", before, installed)
	}
	if back, ok := undo(d.bytes(), d.splices()); !ok || string(back) != before {
		t.Fatalf("undone, %q is %q", before, back)
	}
	if err := p.remove(again); err != nil {
		t.Fatalf("%q: %v", installed, err)
	}
	return installed, string(again.bytes())
}

// TestRoundTrip proves that foreign content is byte-identical after install and remove.
// TestTooDeep proves that the limit of the nesting counts brackets of the file only, not those of strings and comments.
func TestTooDeep(t *testing.T) {
	deep := strings.Repeat(`{"a":[`, maxDepth/2)
	for _, c := range []struct {
		text string
		line int
	}{
		{deep, 0},
		{deep + "\n[", 2},
		{"// a \" and [\n" + deep + "[", 2},
		{"/* \" */" + deep + "[", 1},
		{"/**//**/" + deep + "[", 1},
		{`{"a": "` + strings.Repeat("[", maxDepth+1) + `"}`, 0},
		{`{"a": "\"` + strings.Repeat("[", maxDepth+1) + `"}`, 0},
		{"// " + strings.Repeat("[", maxDepth+1), 0},
		{"/*" + strings.Repeat("[", maxDepth+1) + "*/", 0},
		{strings.Repeat("[]", maxDepth), 0},
	} {
		if line := tooDeep([]byte(c.text)); line != c.line {
			t.Errorf("%.20q: line %d, want %d", c.text, line, c.line)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, c := range []struct {
		name, host string
		kind       Kind
		before     string
	}{
		{"two spaces", "claude-code", Hook, "{\n  \"model\": \"opus\",\n  \"env\": {}\n}\n"},
		{"no last line end", "claude-code", Hook, "{\n  \"model\": \"opus\"\n}"},
		{"tabs", "claude-code", Hook, "{\n\t\"a\": [\n\t\t1,\n\t\t2\n\t]\n}\n"},
		{"CRLF", "claude-code", Hook, "{\r\n    \"a\": 1\r\n}\r\n"},
		{"byte order mark", "claude-code", Hook, "\xef\xbb\xbf{\n  \"a\": 1\n}\n"},
		{"one line", "claude-code", Hook, `{"a": 1, "b": [1, 2]}`},
		{"tight", "claude-code", Hook, `{"a":1,"b":[1,2]}`},
		{"comments", "claude-code", Hook, "// first\n{\n  // about a\n  \"a\": 1, // after a\n  /* b */ \"b\": 2 // after b\n  // last\n}\n// end\n"},
		{"trailing comma", "claude-code", Hook, "{\n  \"a\": 1,\n  \"b\": [\n    1,\n  ],\n}\n"},
		{"trailing comma and comment", "claude-code", Hook, "{\n  \"a\": 1, // one\n  // nothing\n}\n"},
		{"others' hooks", "claude-code", Hook, "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": \"Bash\",\n        \"hooks\": [ { \"type\": \"command\", \"command\": \"./check.sh\" } ]\n      }\n    ]\n  },\n  \"model\": \"x\"\n}\n"},
		{"hook of another host", "claude-code", Hook, `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "skillpm hook Stop --agent codex"}]}]}}`},
		{"unicode", "claude-code", Hook, "{\n  \"ключ\": \"\\u00e9 \U0001F600\"\n}\n"},
		{"Codex's hooks", "codex", Hook, "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}\n    ]\n  }\n}\n"},
		{"Gemini's hooks beside servers", "gemini", Hook, "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"x\"\n    }\n  }\n}"},
		{"Copilot's version", "copilot", Hook, "{\n  \"hooks\": {\"preToolUse\": [{\"type\": \"command\", \"bash\": \"x\"}]},\n  \"version\": 1\n}\n"},
		{"Cursor's hooks", "cursor", Hook, "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [\n      {\n        \"command\": \"./audit.sh\"\n      }\n    ]\n  }\n}\n"},
		{"servers", "claude-code", MCP, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\"\n    },\n    \"z\": {}\n  }\n}\n"},
		{"servers on one line", "gemini", MCP, `{ "mcpServers": { "a": { "command": "a" } } }`},
		{"VS Code with inputs", "vscode", MCP, "{\n\t// servers\n\t\"servers\": {\n\t\t\"a\": { \"command\": \"a\" }, // a\n\t},\n\t\"inputs\": []\n}\n"},
		{"OpenCode", "opencode", MCP, "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}"},
		{"TOML", "codex", MCP, "model = \"o3\"\n\n[mcp_servers.a]\ncommand = \"a\"\n# the end\n"},
		{"TOML without a last line end", "codex", MCP, "model = \"o3\""},
		{"TOML with empty lines at the end", "codex", MCP, "model = \"o3\" # m\n\n\n"},
		{"TOML, CRLF", "codex", MCP, "model = \"o3\"\r\n\r\n[projects.\"/p\"]\r\ntrust_level = \"trusted\"\r\n"},
		{"TOML, nothing", "codex", MCP, ""},
		{"TOML, a comment", "codex", MCP, "# mine\n"},
		{"TOML, strings with brackets", "codex", MCP, "a = \"\"\"\n[mcp_servers.skillpm]\n\"\"\"\nb = ['[', \"]\"] # ]\n"},
		{"TOML, dotted", "codex", MCP, "mcp_servers.a.command = \"a\"\n"},
		{"TOML, table above", "codex", MCP, "[mcp_servers]\n[mcp_servers.a]\ncommand = \"a\"\n"},
		{"YAML", "goose", MCP, "GOOSE_MODEL: x # m\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n\n# end\nGOOSE_PROVIDER: y\n"},
		{"YAML, extensions last", "goose", MCP, "a: 1\nextensions:\n    x:\n        enabled: true\n"},
		{"YAML, no last line end", "goose", MCP, "extensions:\n  x:\n    enabled: true"},
		{"YAML, no extensions", "goose", MCP, "a: 1\n\n# end\n"},
		{"YAML, CRLF", "goose", MCP, "a: 1\r\nextensions:\r\n  x:\r\n    args: [a]\r\n"},
		{"YAML, nothing", "goose", MCP, ""},
		{"YAML, a comment", "goose", MCP, "# mine\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			installed, removed := roundTrip(t, planFor(t, c.kind, c.host), c.before)
			if removed != c.before && (c.before != "" || removed != "{}\n") {
				t.Errorf("before:\n%s\ninstalled:\n%s\nremoved:\n%s", c.before, installed, removed)
			}
			for line := range strings.Lines(installed) {
				if strings.Contains(c.before, "\r\n") && !strings.HasSuffix(line, "\r\n") {
					t.Errorf("the line %q does not end as the others do", line)
				}
			}
		})
	}
}

// genJSON generates JSON texts with comments in all kinds of layout, whose objects and arrays are not empty.
func genJSON(t *rapid.T) string {
	space := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", "\r\n", " // c\n", "/* , } */", "\n\n"})
	var value func(depth int) string
	list := func(open, closing string, n int, item func(i int) string) string {
		var b strings.Builder
		b.WriteString(open)
		for i := range n {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(space.Draw(t, "space") + item(i) + space.Draw(t, "space"))
		}
		if rapid.IntRange(0, 4).Draw(t, "trailing") == 0 {
			b.WriteString("," + space.Draw(t, "space"))
		}
		return b.String() + closing
	}
	object := func(depth int, names []string) string {
		n := rapid.IntRange(1, len(names)).Draw(t, "members")
		return list("{", "}", n, func(i int) string {
			return jsonx.Quote(names[i]) + space.Draw(t, "space") + ":" + space.Draw(t, "space") + value(depth+1)
		})
	}
	value = func(depth int) string {
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		if depth > 3 {
			kind %= 3
		}
		switch kind {
		case 0:
			return "1"
		case 1:
			return jsonx.Quote(rapid.SampledFrom([]string{"", "a", "// no comment", "{", "\"", "é", "skillpm hook Stop --agent codex"}).Draw(t, "text"))
		case 2:
			return "null"
		case 3:
			return list("[", "]", rapid.IntRange(1, 3).Draw(t, "elements"), func(int) string { return value(depth + 1) })
		default:
			return object(depth, []string{"a", "b", "hooks", "mcpServers"})
		}
	}
	return space.Draw(t, "space") + object(0, []string{"x", "y", "other", "more"}) + space.Draw(t, "space")
}

// TestRoundTripProperty proves for many files that only our entries change, and that removal restores every byte.
func TestRoundTripProperty(t *testing.T) {
	hooks, server := planFor(t, Hook, "claude-code"), planFor(t, MCP, "gemini")
	rapid.Check(t, func(rt *rapid.T) {
		before := genJSON(rt)
		if _, err := hujson.Parse([]byte(before)); err != nil {
			rt.Skip(err)
		}
		for _, p := range []plan{hooks, server} {
			installed, removed := roundTrip(t, p, before)
			if removed != before {
				rt.Fatalf("before:\n%q\ninstalled:\n%q\nremoved:\n%q", before, installed, removed)
			}
		}
	})
}

// TestRoundTripLines is TestRoundTripProperty for TOML and YAML files that are composed of fragments.
func TestRoundTripLines(t *testing.T) {
	for _, c := range []struct {
		host   string
		pieces []string
	}{
		{"codex", []string{
			"a = 1\n", "# c\n", "\n", "s = \"[mcp_servers.skillpm]\"\n", "m = \"\"\"\n[x]\n\"\"\"\n", "l = [\n  1, # ]\n  2,\n]\n", "[mcp_servers.a]\ncommand = 'a'\n",
			"[mcp_servers.\"skillpm.x\"]\ncommand = \"b\"\n", "[[t]]\n", "[ p . \"/q\" ] # t\n", "i = { a = 1, b = \"}\" }\n", "  k.l = 2\r\n",
		}},
		{"goose", []string{
			"a: 1\n", "# c\n", "\n", "b:\n  - x\n  - y # z\n", "extensions:\n  x:\n    enabled: true\n", "t: |\n  extensions:\n    skillpm: no\n", "f: {a: [1]}\n",
			"\"q\": 'it''s'\n", "n:\n", "d: >-\n  text\n\n  more\n",
		}},
	} {
		p := planFor(t, MCP, c.host)
		rapid.Check(t, func(rt *rapid.T) {
			pieces := rapid.Permutation(c.pieces).Draw(rt, "pieces")
			before := strings.Join(pieces[:rapid.IntRange(1, len(pieces)).Draw(rt, "n")], "")
			if rapid.Bool().Draw(rt, "unended") {
				before = strings.TrimRight(before, "\r\n")
				if strings.HasSuffix(before, "skillpm: no") {
					rt.Skip("a text at the end of a file ends otherwise than one in the middle: it is refused")
				}
			}
			if _, err := open(p.target.format(), []byte(before)); err != nil {
				rt.Skip(err)
			}
			if installed, removed := roundTrip(t, p, before); removed != before {
				rt.Fatalf("before:\n%q\ninstalled:\n%q\nremoved:\n%q", before, installed, removed)
			}
		})
	}
}

// TestStrictStaysStrict proves that a file without comments and trailing commas still has none after install.
func TestStrictStaysStrict(t *testing.T) {
	for _, before := range []string{"", "{}", `{"a":1}`, "{\n \"hooks\": {\"Stop\": []}\n}", "{\n \"hooks\": {}\n}", "  \n"} {
		installed, _ := roundTrip(t, planFor(t, Hook, "claude-code"), before)
		if !json.Valid([]byte(installed)) {
			t.Errorf("%q became %q", before, installed)
		}
	}
}
