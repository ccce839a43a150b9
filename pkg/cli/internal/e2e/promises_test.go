package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promise is a text of a page, with the tests that prove it or the reason why it has none.
type promise struct {
	line   int
	page   string // such as docs/faq.md, or a title
	text   string
	proofs []proof
	reason string
}

// promises reads docs/dev/promises.txt.
func promises(t *testing.T) []promise {
	t.Helper()
	var all []promise
	page, open := "", false
	for i, line := range readDocument(t, "dev/promises.txt") {
		named, isPage := strings.CutPrefix(line, "== ")
		switch note := strings.TrimSpace(line); {
		case isPage:
			page = named
		case note == "" || strings.HasPrefix(line, "#"):
			open = false
		case strings.HasPrefix(line, "    "):
			last := &all[len(all)-1]
			open = false
			if reason, ok := strings.CutPrefix(note, "- "); ok {
				last.reason = reason
			} else if found := proofs("`"+note+"`", i+1); len(found) == 1 {
				last.proofs = append(last.proofs, found...)
			} else {
				t.Errorf("line %d: neither a test nor a reason: %s", i+1, note)
			}
		case open:
			all[len(all)-1].text += " " + note
		default:
			all, open = append(all, promise{line: i + 1, page: page, text: note}), true
		}
	}
	return all
}

// TestPromises proves that each promise of docs/dev/promises.txt is in its page, and has a test that exists or a reason
// why it does not have one; and that the list has every sentence and cell of docs/concepts/security.md.
func TestPromises(t *testing.T) {
	const model = "docs/concepts/security.md"
	pages := map[string]string{}
	for _, p := range promises(t) {
		if _, ok := pages[p.page]; !ok && strings.HasSuffix(p.page, ".md") {
			pages[p.page] = words(t, p.page)
		}
		switch {
		case !strings.HasSuffix(p.page, ".md"):
		case !strings.Contains(pages[p.page], p.text):
			t.Errorf("line %d: %s does not contain, or the list repeats: %s", p.line, p.page, p.text)
		case p.page == model:
			pages[model] = strings.Replace(pages[model], p.text, "", 1)
		}
		if (len(p.proofs) == 0) == (p.reason == "") {
			t.Errorf("line %d: either tests or a reason: %s", p.line, p.text)
		}
		for _, proof := range p.proofs {
			proof.check(t)
		}
	}
	if rest := regexp.MustCompile(`[^|]*[\pL\pN][^|]*`).FindAllString(pages[model], -1); len(rest) > 0 {
		t.Errorf("docs/dev/promises.txt does not list these texts of %s: %q", model, rest)
	}
}

// words returns the text of a page without headings and code, on one line, with | around each list item and cell.
func words(t *testing.T, page string) string {
	t.Helper()
	if _, err := os.Stat(inRepository(page)); err != nil {
		t.Fatal(err)
	}
	text := prose(t, filepath.FromSlash(inRepository(page)))
	text = regexp.MustCompile(`(?m)^#.*$|^ *- |^ *[0-9]+\. |^$`).ReplaceAllString(text, "|")
	return strings.Join(strings.Fields(text), " ")
}
