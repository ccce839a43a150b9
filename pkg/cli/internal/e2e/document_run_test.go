package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestDocuments runs the commands that README.md and the pages of docs show.
func TestDocuments(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are those of a Unix shell")
	}
	for _, page := range append(handWritten(t), inRepository("README.md")) {
		name, _ := filepath.Rel(inRepository("."), page)
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			runDocument(t, page)
		})
	}
}

// notRun marks a block that does not run, with the reason.
const notRun = "<!-- not run: "

// runDocument runs what a page shows, in an empty project with an empty home directory. A block with a path after its
// language is a file in the project or in the home directory (~/). A console block has commands, each with its output.
// A changed directory stays in effect for the next command. A line of … stands for any lines, and … in a line for any
// text. UPDATE_DOCS writes the real output into the page.
func runDocument(t *testing.T, page string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project := filepath.Join(work, "home"), filepath.Join(work, "home", "shop")
	if err := os.MkdirAll(project, 0o755); err != nil {
		t.Fatal(err)
	}
	sh := &commandShell{dir: project, env: append(os.Environ(), "HOME="+home, "NO_COLOR=1", "CI=", "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), enterpriseDir+"="+filepath.Join(work, "enterprise"))}
	lines := strings.Split(string(data), "\n")
	var updated []string
	copied := 0 // lines of the page in updated
	for _, b := range blocks(page, lines, t.Errorf) {
		if b.path != "" {
			path := filepath.Join(project, filepath.FromSlash(b.path))
			if rest, ok := strings.CutPrefix(b.path, "~/"); ok {
				path = filepath.Join(home, filepath.FromSlash(rest))
			}
			put(t, path, strings.Join(b.lines, "\n")+"\n")
			continue
		}
		for _, c := range b.commands() {
			_, out := sh.run(t, c.lines[0]) // the exit code is visible in the output
			got := strings.TrimSuffix(out, "\n")
			if regexp.MustCompile(pattern(c.lines[1:])).MatchString(got) {
				continue
			}
			if os.Getenv("UPDATE_DOCS") == "" {
				t.Errorf("line %d: %s\nprints\n%s\nand not\n%s", c.line, c.lines[0], got, strings.Join(c.lines[1:], "\n"))
				continue
			}
			updated = append(updated, lines[copied:c.line]...)
			for _, line := range shown(got, work) {
				updated = append(updated, strings.TrimRight(b.indent+line, " "))
			}
			copied = c.line + len(c.lines) - 1
		}
	}
	if updated != nil {
		text := strings.Join(append(updated, lines[copied:]...), "\n")
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shown returns real output in the form that a page shows: without details that differ between runs, and shortened.
func shown(out, work string) []string {
	if out == "" {
		return nil
	}
	for _, x := range []struct{ rx, to string }{
		{regexp.QuoteMeta(work) + `[^\s"',:)]*/`, "…/"},
		{`sha256:[0-9a-f]{12,}`, "sha256:…"},
		{`\d{4}-\d\d-\d\dT[\d:.]+Z?`, "…"},
		{`\d+\.\d+s\b|\b\d+ms\b|\b\d+s ago`, "…"},
		{`…(/?…)+`, "…"},
	} {
		out = regexp.MustCompile(x.rx).ReplaceAllString(out, x.to)
	}
	lines := strings.Split(out, "\n")
	const most, width = 14, 116
	if len(lines) > most {
		lines = append(lines[:most-2], "…")
	}
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = strings.TrimRight(string(runes[:width-1]), " ") + "…"
		}
	}
	return lines
}

// block is a fenced block of a document, or one command of it with its output.
type block struct {
	line   int    // of the first line, counted from 1
	path   string // of the file that it is, "" for a console
	indent string
	lines  []string
}

// blocks returns the consoles and files of a document. It reports blocks with commands that neither run nor have a
// reason, because such commands become wrong unnoticed.
func blocks(page string, lines []string, report func(format string, args ...any)) []block {
	var all []block
	reason := false
	for i := 0; i < len(lines); i++ {
		text := strings.TrimLeft(lines[i], " ")
		info, ok := strings.CutPrefix(text, "```")
		if !ok {
			if text != "" {
				why, marked := strings.CutPrefix(text, notRun)
				reason = marked && len(strings.TrimSuffix(why, "-->")) > 3
			}
			continue
		}
		language, path, _ := strings.Cut(info, " ")
		b := block{line: i + 2, path: path, indent: lines[i][:len(lines[i])-len(text)]}
		for i++; i < len(lines) && strings.TrimLeft(lines[i], " ") != "```"; i++ {
			b.lines = append(b.lines, strings.TrimPrefix(lines[i], b.indent))
		}
		switch {
		case reason || path == "setup":
		case language == "console" && len(b.commands()) == 0:
			report("%s:%d: this console has no commands", page, b.line-1)
		case path != "" || language == "console":
			all = append(all, b)
		case slices.Contains(shells(), language), len(b.commands()) > 0:
			report("%s:%d: this block does not run: use console, or say why with %sREASON -->", page, b.line-1, notRun)
		}
		reason = false
	}
	return all
}

// shells returns the languages of blocks with commands.
func shells() []string {
	return []string{"sh", "bash", "shell", "zsh", "fish", "powershell", "pwsh", "ps1", "cmd", "bat"}
}

// TestDocumentBlocks proves that no block with commands is overlooked.
func TestDocumentBlocks(t *testing.T) {
	for _, test := range []struct {
		name, text string
		runs, bad  int
	}{
		{"console", "```console\n$ skillpm version\n```", 1, 0},
		{"a file", "```yaml skillpm.yaml\nname: a/b\n```", 1, 0},
		{"an example of a file", "```yaml\nname: a/b\n```", 0, 0},
		{"the commands of the readme", "```sh setup\ngo test ./...\n```", 0, 0},
		{"a reason", "<!-- not run: Windows -->\n\n```powershell\nskillpm version\n```", 0, 0},
		{"no reason", "<!-- not run: -->\n\n```sh\nskillpm version\n```", 0, 1},
		{"a reason for another block", "<!-- not run: Windows -->\n\n```sh\na\n```\n\n```sh\nb\n```", 0, 1},
		{"a reason before other text", "<!-- not run: Windows -->\n\nRun:\n\n```sh\na\n```", 0, 1},
		{"a shell", "```bash\nskillpm version\n```", 0, 1},
		{"commands without a language", "```\n$ skillpm version\n```", 0, 1},
		{"commands as text", "```text\n$ skillpm version\n```", 0, 1},
		{"a console without a command", "```console\nskillpm version\n```", 0, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := 0
			all := blocks("page.md", strings.Split(test.text, "\n"), func(string, ...any) { bad++ })
			if len(all) != test.runs || bad != test.bad {
				t.Errorf("%d blocks run and %d are reported, want %d and %d", len(all), bad, test.runs, test.bad)
			}
		})
	}
}

// commands returns the commands of a console.
func (b block) commands() []block {
	var all []block
	for i, line := range b.lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, block{line: b.line + i, lines: []string{command}})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// pattern returns a pattern that matches the output in a document.
func pattern(lines []string) string {
	var p strings.Builder
	p.WriteString(`^`)
	for i, line := range lines {
		if line == "…" {
			p.WriteString(`(?s:.*)`)
			continue
		}
		if i > 0 && lines[i-1] != "…" {
			p.WriteString(`\n`)
		} else if i > 0 {
			p.WriteString(`\n?`)
		}
		p.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `.*`))
	}
	p.WriteString(`$`)
	return p.String()
}

// put writes a file, and makes scripts executable.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
