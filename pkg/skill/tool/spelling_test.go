package tool_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// encodings write a path so that some program opens the same file.
var encodings = map[string]func(string) string{
	"plain":           func(p string) string { return p },
	"space before":    func(p string) string { return " " + p },
	"space after":     func(p string) string { return p + " \u3000" },
	"mark":            func(p string) string { return "\ufeff" + p },
	"no-break space":  func(p string) string { return "\u00a0" + p },
	"percent":         func(p string) string { return strings.ReplaceAll(p, ".", "%2e") },
	"percent, upper":  func(p string) string { return strings.ReplaceAll(p, "/", "%2F") },
	"percent, once":   func(p string) string { return strings.Replace(p, "s", "%73", 1) },
	"percent, twice":  func(p string) string { return strings.ReplaceAll(p, ".", "%252e") },
	"malformed":       func(p string) string { return "%zz/../" + strings.ReplaceAll(p, ".", "%2e") },
	"at":              func(p string) string { return "@" + p },
	"NUL":             func(p string) string { return p + "\x00" },
	"NUL within":      func(p string) string { return p[:len(p)-1] + "\x00" + p[len(p)-1:] },
	"NUL and more":    func(p string) string { return p + "\x00.md" },
	"newline":         func(p string) string { return p + "\n" },
	"zero width":      func(p string) string { return p[:len(p)-1] + "\u200b" + p[len(p)-1:] },
	"double quotes":   func(p string) string { return `"` + p + `"` },
	"quotes":          func(p string) string { return "'" + p + "'" },
	"brackets":        func(p string) string { return "<" + p + ">" },
	"escapes":         func(p string) string { return strings.ReplaceAll(p, ".", `\u002e`) },
	"hex escapes":     func(p string) string { return strings.ReplaceAll(p, ".", `\x2e`) },
	"shell escapes":   func(p string) string { return strings.ReplaceAll(p, ".", `\.`) },
	"backslashes":     func(p string) string { return strings.ReplaceAll(p, "/", `\`) },
	"dots":            func(p string) string { return path.Dir(p) + "/./x/../" + path.Base(p) },
	"long":            func(p string) string { return strings.Repeat("docs/../", 700) + p },
	"long, encoded":   func(p string) string { return strings.Repeat("docs/%2e%2e/", 700) + p },
	"URL":             func(p string) string { return "file://" + path.Join("/p", p) },
	"URL, upper":      func(p string) string { return "FILE:" + path.Join("/p", p) },
	"URL of a host":   func(p string) string { return "file://localhost" + path.Join("/p", p) + "?x#y" },
	"variable":        func(p string) string { return "$PWD/" + p },
	"from home":       func(p string) string { return "~/../../p/" + p },
	"from home, var":  func(p string) string { return "${HOME}/../../p/" + p },
	"from home, name": func(p string) string { return "~u/../../p/" + p },
	"absolute":        func(p string) string { return path.Join("/p", p) },
	"process":         func(p string) string { return "/proc/self/cwd/" + p },
	"process root":    func(p string) string { return "/proc/1/root" + path.Join("/p", p) },
	"thread":          func(p string) string { return "/proc/thread-self/cwd/" + p },
	"descriptor":      func(p string) string { return "/dev/fd/3/" + p },
	"process, dots":   func(p string) string { return "/proc/../proc/./self/cwd/" + p },
}

// outsidePaths are not below docs, and nothing may write to them.
var outsidePaths = []string{
	"skillpm-policy.yaml", "SKILLPM-Policy.yaml", "skillpm-approvals.yaml", "docs/../skillpm-policy.yaml", ".gemini/settings.json",
	".skillpm/plugins/acme/x/y/SKILL.md", "../home/u/.config/skillpm/policy.yaml",
}

var guardedPaths = []string{
	"/p/skillpm-policy.yaml", "/p/skillpm-approvals.yaml", "/p/.gemini/settings.json", "/p/.skillpm/plugins", "/home/u/.config/skillpm",
}

// writers are tools that write, and how they get a path.
var writers = map[string]func(string) map[string]any{
	"Write":                  func(p string) map[string]any { return map[string]any{"file_path": p, "content": "x"} },
	"write_file":             func(p string) map[string]any { return map[string]any{"file_path": p, "content": "x"} },
	"replace":                func(p string) map[string]any { return map[string]any{" file_path": p} },
	"create":                 func(p string) map[string]any { return map[string]any{"\ufeffPath ": p} },
	"edit":                   func(p string) map[string]any { return map[string]any{"filePath": p} },
	"MultiEdit":              func(p string) map[string]any { return map[string]any{"edits": []any{map[string]any{"PATH\u00a0": p}}} },
	"delete_file":            func(p string) map[string]any { return map[string]any{"target_file": p} },
	"str_replace_editor":     func(p string) map[string]any { return map[string]any{"command": "create", "path": p} },
	"mcp__files__write_file": func(p string) map[string]any { return map[string]any{"path": p, "content": "x\ny"} },
	"mcp__files__move_file": func(p string) map[string]any {
		return map[string]any{"options": []any{map[string]any{"to": []any{"a", p}}}}
	},
	"mcp__git__push":   func(p string) map[string]any { return map[string]any{"files": map[string]any{p: "x"}} },
	"MCP:write_file":   func(p string) map[string]any { return map[string]any{"destination": p} },
	"some_new_tool":    func(p string) map[string]any { return map[string]any{"where": p} },
	"skillpm__x__save": func(p string) map[string]any { return map[string]any{"where": []string{p}} },
}

// TestK7Spellings checks SPEC K1, K7: no composition of two encodings of a path, in any tool and field, writes to a
// guarded file or is allowed by a pattern for another directory.
func TestK7Spellings(t *testing.T) {
	docs := tool.Of(patterns(t, "Read(docs/**), Write(docs/**), Edit(docs/**), Delete(docs/**)"))
	names := slices.Sorted(maps.Keys(writers))
	count := 0
	try := func(label, name, p string) {
		count++
		c := tool.Call{Tool: name, Input: writers[name](p), Project: "/p", Home: "/home/u", Dir: "/p"}
		w := c.Written()
		below, _ := w.Below(guardedPaths)
		if _, unclear := w.Unclear(); below == "" && unclear == "" {
			t.Errorf("%s: %s may write %q", label, name, p)
		}
		if v := docs.Allow(c); v.Allowed {
			t.Errorf("%s: %s %q is allowed", label, name, p)
		}
		c = tool.Call{Tool: "Read", Input: map[string]any{"file_path": p}, Project: "/p", Home: "/home/u", Dir: "/p"}
		if v := docs.Allow(c); v.Allowed {
			t.Errorf("%s: Read %q is allowed", label, p)
		}
	}
	for one, outer := range encodings {
		for _, p := range outsidePaths {
			for _, name := range names {
				try(one, name, outer(p))
			}
		}
		for two, inner := range encodings { // all pairs, with one path and tool each
			if composes(one, two) {
				p, name := outsidePaths[count%len(outsidePaths)], names[count%len(names)]
				try(one+" of "+two, name, outer(inner(p)))
			}
		}
	}
	t.Log(count, "calls")
}

// TestK7Together checks SPEC K7: several texts of a call together do not lead to a guarded file, in fields or as JSON.
func TestK7Together(t *testing.T) {
	denied := func(input map[string]any) bool {
		real := func(p string) string { return strings.Replace(p, "/p/a/Link", "/", 1) }
		w := tool.Call{
			Tool: "mcp__files__write", Input: input, Project: "/p", First: "/p/src/deep", Home: "/home/u", Dir: "/p/src/deep", Real: real,
		}.Written()
		below, _ := w.Below(append(guardedPaths, "/p/.cursor/hooks.json", "/p/src/deep/.claude/settings.json"))
		_, unclear := w.Unclear()
		return below != "" || unclear != ""
	}
	for _, file := range append(guardedPaths, "/P/.Cursor/hooks.json", "/home/u/.config/skillpm/x") {
		names := strings.Split(file, "/")
		for i := range len(names) - 1 {
			dir := strings.Join(names[:i+1], "/") + "/"
			up := strings.Repeat("../", strings.Count(strings.Trim(dir, "/"), "/")+1)
			for _, input := range []map[string]any{
				{"root": dir, "path": strings.Join(names[i+1:], "/")},
				{"root": path.Dir(path.Clean(dir)), "parts": []any{path.Base(dir), "./" + strings.Join(names[i+1:], "/")}},
				{"cwd": dir + "x", "path": "../" + strings.Join(names[i+1:], "/")},
				{"cwd": dir + "x", "path": `..\` + strings.Join(names[i+1:], `\`)},
				{"cwd": "/tmp", "path": "../" + up + file[1:]},
				{"cwd": "/p/a/b", "path": "../Link" + file},
				{"arguments": fmt.Sprintf(` {"path": [%q]}`, file)},
				{"path": "\u200b\n" + file + "\u200b"},
				{"arguments": []string{fmt.Sprintf(`{"path": %q}`, file)}},
				{"arguments": fmt.Sprintf("{\"path\": %q}\n{\"path\": \"x\"}", file)},
				{"arguments": fmt.Sprintf(`{"path": %q, "path": "x"}`, file)},
				{"arguments": fmt.Sprintf(`{/* 5" or \" */ "path": %q}`, file)},
				{"arguments": fmt.Sprintf("\ufeff{'path': '%s', '\"'}", file)},
				{"arguments": fmt.Sprintf(`{\"path\": \"%s\"}`, file)},
				{"arguments": fmt.Sprintf("\ufeff{/* it's */ 'path': '%s', \"a\": '\\''}", file)},
				{"arguments": fmt.Sprintf("{path: '%s\\\n%s'}", file[:5], file[5:])},
				{"arguments": fmt.Sprintf(`{"path": %q, "x": NaN}`, file)},
				{"arguments": fmt.Sprintf(`{"path": %q, "x": %s}`, file, strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000))},
			} {
				if !denied(input) {
					t.Errorf("%s: %v is allowed", file, input)
				}
			}
		}
	}
	var deep []string // each step up has as many directories: the answer would come too late
	for i := range 100 {
		deep = append(deep, fmt.Sprint(i)+strings.Repeat("/x", 500))
	}
	if !denied(map[string]any{"paths": append(deep, strings.Repeat("../", 400)+"x")}) {
		t.Error("deep directories are allowed")
	}
	var sources []string
	for i := range 400 {
		sources = append(sources, fmt.Sprintf("../../src/%d.ts", i))
	}
	sourceMap, _ := json.Marshal(map[string]any{"sources": sources})
	for _, input := range []map[string]any{
		{"path": "."},
		{"path": "/p/src"},
		{"text": "\u200b"},
		{"path": "../..", "cwd": "/p/src/deep"},
		{"path": "dist/a.js.map", "content": string(sourceMap)},
		{"path": "dist/a.js.map", "sources": sources},
		{"cwd": "/p/src", "path": "../plugins/a.js", "old": "../settings.json", "new": "../skillpm", "more": "hooks.json"},
		{"root": "/", "path": "p/docs/a.md", "and": "u/.config", "name": "etc"},
		{"edits": `[{"path": "docs/a.md", "text": "import '../a'"}]`, "text": `{"a": 1`},
		{"list": `[{"a": "it's", "b": "skillpm", "c": "'skillpm-policy.yaml' isn't"}, {"d": ""}]`, "more": `[` + "`.cursor/hooks.json`"},
		{"text": "[x] don't, it's '../a'", "json": `{"a": "'settings.json'"}`},
	} {
		if denied(input) {
			t.Errorf("%v is denied", input)
		}
	}
}

// TestK7Searched checks SPEC K1, K7: an agent that searches for a missing file finds no guarded one, nor one in a project
// that is too large to search. Other agents create the file.
func TestK7Searched(t *testing.T) {
	for _, test := range []struct {
		spellings tool.Spellings
		files     []string
		ok, free  bool
	}{
		{tool.Suffix, []string{"/p/skillpm-policy.yaml"}, true, false},
		{tool.Suffix, nil, false, false},
		{0, nil, false, false},
		{tool.Suffix, []string{"/p/docs/y"}, true, true},
		{tool.Suffix, nil, true, true},
		{tool.Literal, nil, false, true},
	} {
		c := tool.Call{
			Tool: "Edit", Input: map[string]any{"file_path": "y"}, Project: "/p", Dir: "/p/docs", Spellings: test.spellings,
			Find: func([]string) ([]string, bool) { return test.files, test.ok },
		}
		w := c.Written()
		below, _ := w.Below([]string{"/p/skillpm-policy.yaml"})
		if _, unclear := w.Unclear(); test.free != (below == "" && unclear == "") {
			t.Errorf("%+v: writes %q, unclear %q", test, below, unclear)
		}
		docs := tool.Of(patterns(t, "Edit(/docs/**)"))
		if v := docs.Allow(c); v.Allowed != test.free {
			t.Errorf("%+v: allowed %t: %s", test, v.Allowed, v.Reason)
		}
	}
}

// composes reports whether a program that accepts both encodings would open the file. The outer one must not hide the
// inner one, as a directory before a URL does.
func composes(one, two string) bool {
	beginnings := "dots|long|long, encoded|malformed|variable|from home|from home, var|from home, name|absolute|process|process root|" +
		"thread|descriptor|process, dots|URL|URL, upper|URL of a host"
	apart := "shell escapes|backslashes|NUL within|NUL and more|space after|zero width"
	is := func(list, name string) bool { return slices.Contains(strings.Split(list, "|"), name) }
	return !is(beginnings, one) && !(is(apart, one) && is(apart, two)) && !strings.HasPrefix(two, "long")
}

// TestK1OrdinarySpellings checks SPEC K1, K7: paths with unusual characters stay usable if no reading leads out.
func TestK1OrdinarySpellings(t *testing.T) {
	docs := tool.Of(patterns(t, "Read(docs/**), Write(docs/**), Read(~/notes/**)"))
	for _, p := range []string{
		"docs/a.md", "docs/50%25.md", "docs/100%.md", "docs/%zz.md", "docs/a b.md", "docs/@types/x.ts", "docs/a@b.md", "docs/$id.tsx",
		"docs/[slug]/page.tsx", "docs/(group)/page.tsx", "docs/it's.md", "docs/ä.md", "docs/a\u0308.md", "docs/日本語.md", "docs/🏳️\u200d🌈.md",
		"docs/a:b.md", "docs/~x.md", "docs/a~1.md", "docs/con.txt", "docs/...md", "docs/proc/self/cwd", "docs/C#/x.cs", "docs/a+b.md",
		"docs/file:x", "./docs/a.md", "/p/docs/a.md", "docs//a.md", "docs/" + strings.Repeat("x", 200), "docs/a,b;c&d.md", "docs/-n",
	} {
		for _, name := range []string{"Read", "Write"} {
			c := tool.Call{Tool: name, Input: map[string]any{"file_path": p}, Project: "/p", Home: "/home/u", Dir: "/p"}
			if v := docs.Allow(c); !v.Allowed {
				t.Errorf("%s %q: %s", name, p, v.Reason)
			}
			if below, _ := c.Written().Below(guardedPaths); below != "" {
				t.Errorf("%q is guarded", p)
			}
			if _, unclear := c.Written().Unclear(); unclear != "" {
				t.Errorf("%q: %s", p, unclear)
			}
		}
	}
	if v := docs.Allow(tool.Call{Tool: "Read", Input: map[string]any{"file_path": "~/notes/a"}, Project: "/p", Home: "/home/u"}); !v.Allowed {
		t.Error(v.Reason)
	}
	// Texts in the arguments of other tools are no paths, or not of guarded files.
	for _, text := range []string{
		"skillpm", "Fix skillpm-policy.yaml", "see\n/p/skillpm-policy.yaml\n", "https://example.com/p/skillpm-policy.yaml", "/p", "/home/u", "/", ".",
		"src/main.go", "settings.json", "a: b", "~", "%", "@", "", " ", "\x00", strings.Repeat("x", 100_000), "SELECT * FROM a", "C:\\x", "$HOME",
	} {
		c := tool.Call{Tool: "mcp__any__tool", Input: map[string]any{"q": text}, Project: "/p", Home: "/home/u", Dir: "/p"}
		w := c.Written()
		below, _ := w.Below(guardedPaths)
		if _, unclear := w.Unclear(); below != "" || unclear != "" {
			t.Errorf("%q is denied: %q %q", text, below, unclear)
		}
	}
	for _, name := range []string{"mcp__files__read_text_file", "mcp__files__list_directory", "MCP:read_file", "TodoWrite", "mcp__skillpm__skill_file"} {
		c := tool.Call{Tool: name, Input: map[string]any{"path": "/p/skillpm-policy.yaml"}, Project: "/p"}
		if below, _ := c.Written().Below(guardedPaths); below != "" {
			t.Errorf("%s writes", name)
		}
	}
}

// TestK1AgentSpellings checks SPEC K1: a row of an agent has the spellings that it accepts, so that others are the
// names of files.
func TestK1AgentSpellings(t *testing.T) {
	types := tool.Of(patterns(t, "Read(@types/**), Read(docs/**)"))
	for _, test := range []struct {
		path      string
		spellings tool.Spellings
		want      bool
	}{
		{"@types/x", tool.Literal, true},
		{"@types/x", tool.Literal | tool.At, false},
		{"@types/x", 0, false},
		{"docs/%2e%2e/x", tool.Literal, true},
		{"docs/%2e%2e/x", tool.Literal | tool.Percent, false},
		{" docs/x", tool.Literal, false},
		{"docs/.. ", tool.Literal, true},
		{"docs/.. ", tool.Trimmed, false},
		{`docs/\u002e./x`, tool.Literal, true},
		{`docs/\u002e./x`, tool.Escaped, false},
		{"~/docs/x", tool.Literal, false},
	} {
		c := tool.Call{Tool: "Read", Input: map[string]any{"file_path": test.path}, Project: "/p", Home: "/home/u", Spellings: test.spellings}
		if v := types.Allow(c); v.Allowed != test.want {
			t.Errorf("%q with %b: %v %s", test.path, test.spellings, v.Allowed, v.Reason)
		}
	}
}

// TestK1SearchFields checks SPEC K1: a tool that ignores an unusual field searches the current directory.
func TestK1SearchFields(t *testing.T) {
	docs := tool.Of(patterns(t, "Grep(docs/**), Glob(docs/**)"))
	for _, test := range []struct {
		tool, field, value, pattern string
		want                        bool
	}{
		{"Grep", "path", "docs", "x", true},
		{"Grep", "PATH", "docs", "x", false},
		{"Grep", " path", "docs", "x", false},
		{"Grep", "\ufeffpath", "docs", "x", false},
		{"Grep", "dir_path", "docs", "x", false}, // not this agent's
		{"Grep", "path", " docs", "x", false},
		{"Grep", "path", " docs/../src", "x", false},
		{"Grep", "path", "\ufeff/etc", "x", false},
		{"Grep", "path", " ", "x", false},
		{"Grep", "path", "", "x", false},
		{"Glob", "path", "docs", "**/*.md", true},
		{"Glob", "path", "docs", " /etc/*", false},
		{"Glob", "path", "docs", "\ufeff~/*", false},
		{"Glob", "path", "docs", `\u002e\u002e/*`, false},
		{"Glob", "path", "\ufeffdocs/../src", "*", false},
	} {
		c := tool.Call{
			Tool: test.tool, Input: map[string]any{test.field: test.value, "pattern": test.pattern}, Project: "/p", Home: "/home/u",
			Spellings: tool.Literal | tool.Trimmed | tool.Tilde | tool.Escaped, Directory: "path",
		}
		if v := docs.Allow(c); v.Allowed != test.want {
			t.Errorf("%s %v: %v %s", test.tool, c.Input, v.Allowed, v.Reason)
		}
	}
}

// TestK1Patches checks SPEC K1: each line that an agent reads as the header of a file counts. The forms were compared
// with apply_patch of Codex 0.169.0, which accepts those with codex.
func TestK1Patches(t *testing.T) {
	only := tool.Of(patterns(t, "Edit(ok.txt), Write(ok.txt)"))
	for _, test := range []struct {
		name, patch string
		codex       bool
	}{
		{"add", "*** Begin Patch\n*** Add File: bad.txt\n+x\n*** End Patch", true},
		{"update", "*** Begin Patch\n*** Update File: bad.txt\n@@\n-a\n+x\n*** End Patch", true},
		{"delete", "*** Begin Patch\n*** Delete File: bad.txt\n*** End Patch", true},
		{"move", "*** Begin Patch\n*** Update File: ok.txt\n*** Move to: bad.txt\n@@\n-a\n+x\n*** End Patch", true},
		{"here document", "<<'EOF'\n*** Begin Patch\n*** Add File: bad.txt\n+x\n*** End Patch\nEOF", true},
		{"plain here document", "<<EOF\n*** Begin Patch\n*** Add File: bad.txt\n+x\n*** End Patch\nEOF", true},
		{"quoted here document", "<<\"EOF\"\n*** Begin Patch\n*** Add File: bad.txt\n+x\n*** End Patch\nEOF", true},
		{"indented", "  *** Begin Patch\n\t*** Add File: bad.txt\n+x\n  *** End Patch  ", true},
		{"space after", "*** Begin Patch  \n*** Add File: bad.txt \u00a0\n+x\n*** End Patch", true},
		{"no-break space before", "*** Begin Patch\n\u00a0*** Add File: bad.txt\n+x\n*** End Patch", true},
		{"next line", "*** Begin Patch\n\u0085*** Add File: bad.txt\u0085\n+x\n*** End Patch", true},
		{"vertical tab", "*** Begin Patch\n*** Add File: bad.txt\v\n+x\n*** End Patch", true},
		{"carriage returns", "*** Begin Patch\r\n*** Add File: bad.txt\r\n+x\r\n*** End Patch", true},
		{"environment", "*** Begin Patch\n*** Environment ID: x\n*** Add File: bad.txt\n+x\n*** End Patch", true},
		{"context line", "*** Begin Patch\n*** Update File: ok.txt\n@@\n-a\n+x\n *** Add File: bad.txt\n+x\n*** End Patch", true},
		{"after the end of a file", "*** Begin Patch\n*** Update File: ok.txt\n@@\n-a\n*** End of File\n*** Add File: bad.txt\n+x\n*** End Patch", true},
		{"second file", "*** Begin Patch\n*** Add File: ok.txt\n+x\n*** Add File: bad.txt\n+x\n*** End Patch", true},
		{"lower case", "*** Begin Patch\n*** add file: bad.txt\n+x\n*** End Patch", false},
		{"without a space", "*** Begin Patch\n*** Add File:bad.txt\n+x\n*** End Patch", false},
		{"two spaces", "*** Begin Patch\n***  Add  File: bad.txt\n+x\n*** End Patch", false},
		{"mark", "*** Begin Patch\n\ufeff*** Add File: bad.txt\n+x\n*** End Patch", false},
		{"text before", "Here:\n*** Begin Patch\n*** Add File: bad.txt\n+x\n*** End Patch", false},
		{"rename", "*** Begin Patch\n*** Rename File: ok.txt\n*** To: bad.txt\n*** End Patch", false},
		{"a colon ends the name", "*** Begin Patch\n*** Add File: bad.txt:x\n+x\n*** End Patch", false},
		{"unknown header", "*** Begin Patch\n*** Add File: ok.txt\n+x\n*** Replace: bad.txt\n*** End Patch", false},
		{"encoded", "*** Begin Patch\n*** Add File: b%61d.txt\n+x\n*** End Patch", false},
	} {
		for _, name := range []string{"apply_patch", "Edit"} {
			c := tool.Call{Tool: name, Input: map[string]any{"input": test.patch}, Project: "/p", Dir: "/p"}
			below, _ := c.Written().Below([]string{"/p/bad.txt"})
			if _, unclear := c.Written().Unclear(); below == "" && unclear == "" || test.codex && unclear != "" {
				t.Errorf("%s: %s writes %q, unclear %q", test.name, name, below, unclear)
			}
			if v := only.Allow(c); v.Allowed {
				t.Errorf("%s: %s is allowed", test.name, name)
			}
		}
	}
	// Content is not a header.
	for _, patch := range []string{
		"*** Begin Patch\n*** Add File: ok.txt\n+*** Add File: bad.txt\n*** End Patch",
		"*** Begin Patch\n*** Update File: ok.txt\n@@\n-*** Add File: bad.txt\n+x\n ***\n*** End Patch\n",
	} {
		c := tool.Call{Tool: "apply_patch", Input: map[string]any{"input": patch}, Project: "/p", Dir: "/p"}
		if v := only.Allow(c); !v.Allowed {
			t.Errorf("%q: %s", patch, v.Reason)
		}
	}
}

// TestWindowsPaths checks what the forms of a path of Windows mean, on any system.
func TestWindowsPaths(t *testing.T) {
	docs := tool.Of(patterns(t, "Read(docs/**), Write(docs/**)"))
	guarded := []string{`C:\p\skillpm-policy.yaml`, `C:\Users\u\AppData\skillpm`}
	for _, test := range []struct {
		path    string
		allowed bool // by the list
		safe    bool // not a write to a guarded file
	}{
		{`docs\a.md`, true, true},
		{`C:\p\docs\a.md`, true, true},
		{`c:\p\docs/sub\a.md`, true, true},
		{`\\?\C:\p\docs\a.md`, true, true},
		{`docs\users\x2.md`, true, true},
		{`src\a.go`, false, true},
		{`docs\..\..\x`, false, true},
		{`C:docs\a.md`, false, false},
		{`C:`, false, false},
		{`C:skillpm-policy.yaml`, false, false},
		{`C:\p\skillpm-policy.yaml`, false, false},
		{`c:/P/SKILLPM-POLICY.YAML`, false, false},
		{`docs\..\skillpm-policy.yaml`, false, false},
		{`docs/..\skillpm-policy.yaml.`, false, false},
		{`skillpm-policy.yaml. .`, false, false},
		{`skillpm-policy.yaml::$DATA`, false, false},
		{`docs\a.md:stream`, false, false},
		{`docs\a.md::$DATA`, false, false},
		{`skillpm-policy.yaml\`, false, false},
		{`\p\skillpm-policy.yaml`, false, false},
		{`/p/skillpm-policy.yaml`, false, false},
		{`\\?\C:\p\skillpm-policy.yaml`, false, false},
		{`\\.\C:\p\skillpm-policy.yaml`, false, false},
		{`\??\C:\p\skillpm-policy.yaml`, false, false},
		{`\\?\UNC\localhost\c$\p\skillpm-policy.yaml`, false, false},
		{`\\localhost\c$\p\docs\a.md`, false, false},
		{`//localhost/c$/p/docs/a.md`, false, false},
		{`\\?\GLOBALROOT\Device\HarddiskVolume1\p`, false, false},
		{`\\?\Volume{1}\p\docs\a.md`, false, false},
		{`SKILLP~1.YAM`, false, false},
		{`docs\LONGNA~1.MD`, false, false},
		{`DOCS~1\a.md`, false, false},
		{`docs\CON`, false, false},
		{`docs\nul.txt`, false, false},
		{`docs\com1`, false, false},
		{`docs\LPT¹.md`, false, false},
		{`docs\conin$`, false, false},
		{`docs\... \a.md`, false, false},
		{`docs\a<.md`, false, false},
		{`D:\p\docs\a.md`, false, true},
		{`file:///C:/p/skillpm-policy.yaml`, false, false},
		{`%USERPROFILE%\AppData\skillpm\config.yaml`, false, false},
		{`~\AppData\skillpm\config.yaml`, false, false},
		{`$env:USERPROFILE\AppData\skillpm\config.yaml`, false, false},
		{` C:\p\skillpm-policy.yaml`, false, false},
	} {
		c := tool.Call{Tool: "Write", Input: map[string]any{"file_path": test.path}, Project: `C:\p`, Dir: `C:\p`, Home: `C:\Users\u`}
		if v := docs.Allow(c); v.Allowed != test.allowed {
			t.Errorf("%s is allowed: %v, %s", test.path, v.Allowed, v.Reason)
		}
		w := c.Written()
		below, _ := w.Below(guarded)
		if _, unclear := w.Unclear(); (below == "" && unclear == "") != test.safe {
			t.Errorf("%s: guarded %q, unclear %q", test.path, below, unclear)
		}
	}
}

// FuzzSpellings checks that a path that a list allows for an unknown agent is allowed for one that opens it as it is
// written, and that no spelling takes long.
func FuzzSpellings(f *testing.F) {
	for _, encode := range encodings {
		f.Add(encode("docs/a"))
		f.Add(encode("skillpm-policy.yaml"))
	}
	docs := tool.Of(patterns(f, "Write(docs/**)"))
	f.Fuzz(func(t *testing.T, p string) {
		input := map[string]any{"file_path": p}
		any := tool.Call{Tool: "Write", Input: input, Project: "/p", Home: "/home/u", Dir: "/p"}
		exact := any
		exact.Spellings = tool.Literal
		if docs.Allow(any).Allowed && !docs.Allow(exact).Allowed {
			t.Fatalf("%q", p)
		}
		w := any.Written()
		below, _ := w.Below([]string{"/p/skillpm-policy.yaml"})
		if _, unclear := w.Unclear(); below == "" && unclear == "" && path.Join("/p", p) == "/p/skillpm-policy.yaml" {
			t.Fatalf("%q is written", p)
		}
		data, err := json.Marshal(input)
		if err != nil || len(data) == 0 {
			t.Fatal(fmt.Sprint(err))
		}
	})
}
