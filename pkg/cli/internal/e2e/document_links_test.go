package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentLinks proves that every link between the pages leads somewhere, to a heading where it names one, and that
// README.md leads to every page.
func TestDocumentLinks(t *testing.T) {
	pages, err := filepath.Glob(inRepository("docs/*.md"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	readme := inRepository("README.md")
	reached := map[string]bool{}
	for _, page := range append([]string{readme, inRepository("CONTRIBUTING.md")}, pages...) {
		for _, link := range links(prose(t, page)) {
			file, heading, _ := strings.Cut(link, "#")
			to := page
			if file != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			}
			if page == readme {
				reached[to] = true
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %s is not there", page, link)
			} else if heading != "" && !slices.Contains(headings(prose(t, to)), heading) {
				t.Errorf("%s: %s has no heading %s", page, file, heading)
			}
		}
	}
	for _, page := range pages {
		if !reached[page] {
			t.Errorf("README.md does not lead to %s", page)
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

// headings returns what a link calls the headings of a page.
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

// prose returns a page without its blocks of code.
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
