package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDocumentLinks proves that every link between the pages has an existing target, including its heading, and that
// README.md leads to every page, directly or through others.
func TestDocumentLinks(t *testing.T) {
	readme := inRepository("README.md")
	reached := map[string]bool{}
	todo := []string{readme, inRepository("CONTRIBUTING.md"), inRepository("CHANGELOG.md"), inRepository(".github/SECURITY.md")}
	for len(todo) > 0 {
		page := todo[0]
		todo = todo[1:]
		if reached[page] {
			continue
		}
		reached[page] = true
		for _, link := range links(prose(t, page)) {
			file, heading, _ := strings.Cut(link, "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s is not there", page, link)
			} else if heading != "" && !slices.Contains(headings(prose(t, to)), heading) {
				t.Errorf("%s: %s has no heading %s", page, file, heading)
			} else if strings.HasSuffix(to, ".md") {
				todo = append(todo, to)
			}
		}
	}
	for _, page := range handWritten(t) {
		if !reached[page] {
			t.Errorf("README.md does not lead to %s", page)
		}
	}
}

// handWritten returns the pages that are not generated.
func handWritten(t *testing.T) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(inRepository("docs"), func(path string, e fs.DirEntry, err error) error {
		switch name := filepath.ToSlash(path); {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasSuffix(name, "reference/commands") || strings.HasSuffix(name, "reference/rules") ||
			strings.HasSuffix(name, "docs/adr") || strings.HasSuffix(name, "docs/examples")):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			pages = append(pages, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocumentSize proves that the documentation stays short: at most 25 handwritten pages with 25,000 words, and at
// most 120 lines of README.md.
func TestDocumentSize(t *testing.T) {
	const mostPages, mostWords, mostLines = 25, 25_000, 120
	pages := handWritten(t)
	words := 0
	for _, page := range append(pages, inRepository("README.md")) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words += len(strings.Fields(string(data)))
		if lines := strings.Count(string(data), "\n"); strings.HasSuffix(page, "README.md") && lines > mostLines {
			t.Errorf("README.md has %d lines", lines)
		}
	}
	if len(pages) > mostPages || words > mostWords {
		t.Errorf("%d pages with %d words", len(pages), words)
	}
}

// TestDocumentForm proves that every page begins with whom it is for, and that lines have at most 120 columns. Rows of
// tables are exempt, because Markdown cannot wrap them.
func TestDocumentForm(t *testing.T) {
	pages := handWritten(t)
	for _, page := range append(pages, inRepository("README.md"), inRepository("CHANGELOG.md"),
		inRepository("CONTRIBUTING.md"), inRepository(".github/SECURITY.md")) {
		text := prose(t, page)
		if slices.Contains(pages, page) && !regexp.MustCompile(`^# .+\n\nFor `).MatchString(text) {
			t.Errorf("%s does not begin with a title and with whom it is for", page)
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(strings.TrimSpace(line), "|") && utf8.RuneCountInString(strings.TrimSpace(line)) > 120 {
				t.Errorf("%s: more than 120 columns: %s", page, line)
			}
		}
	}
}

// links returns the links of a text that lead to files.
func links(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			all = append(all, m[1])
		}
	}
	return all
}

// headings returns the anchors of a page's headings.
func headings(text string) []string {
	mark, other := regexp.MustCompile("`|\\*|\\[|\\]\\([^)]*\\)"), regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	var all []string
	for line := range strings.Lines(text) {
		if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
			title = other.ReplaceAllString(mark.ReplaceAllString(strings.ToLower(strings.TrimSpace(title)), ""), "")
			all = append(all, strings.ReplaceAll(title, " ", "-"))
		}
	}
	return all
}

// prose returns a page without its code blocks.
func prose(t *testing.T, page string) string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	code := false
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			code = !code
		} else if !code {
			b.WriteString(line)
		}
	}
	return b.String()
}
