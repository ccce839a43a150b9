package tokens_test

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/internal/tokens"
)

// TestEstimate compares estimates with the counts of three tokenizers: o200k_base, Gemma's, and Claude's of 2023.
func TestEstimate(t *testing.T) {
	const most = 0.25 // short texts differ the most; docs/adr/0050-token-estimate.md has the errors on 2,500 files
	for _, test := range []struct {
		text   string
		counts [3]int
	}{
		{
			"Extracts text and tables from PDF files, fills in forms, and merges documents. " +
				"Use when the user works with PDF files.",
			[3]int{26, 26, 26},
		},
		{
			"## Steps\n\n1. Run `npm ci --ignore-scripts`.\n2. Check that `package.json` has `\"private\": true`.\n" +
				"3. Call `getUserByID(userID, 1024)`, and log HTTP 404 as a warning.\n",
			[3]int{53, 59, 54},
		},
		{
			"| name | size | SHA-256 |\n| --- | ---: | --- |\n" +
				"| `skillpm_1.4.0_linux_amd64.tar.gz` | 12,345,678 | 9f86d081884c7d659a2feaa0c55ad015 |\n",
			[3]int{63, 87, 68},
		},
		{
			"def total(rows):\n    \"\"\"Returns the sum of the amounts.\"\"\"\n" +
				"    return sum(row['amount'] for row in rows if row.get('state') != 'void')\n",
			[3]int{34, 40, 38},
		},
		{"把 PDF 文件转换成 Markdown,并保留表格和图片。用户要求转换文档时使用。", [3]int{23, 19, 26}},
		{
			"Извлекает таблицы из файлов PDF и сохраняет их в формате CSV. Используйте, когда нужно обработать отчёты.",
			[3]int{28, 28, 52},
		},
		{
			"Prüft Rechnungen auf fehlende Angaben und ergänzt die Umsatzsteuer. Für Aufgaben der Buchhaltung.",
			[3]int{21, 21, 37},
		},
	} {
		mean := float64(test.counts[0]+test.counts[1]+test.counts[2]) / 3
		n := tokens.Estimate(test.text)
		if off := float64(n)/mean - 1; math.Abs(off) > most {
			t.Errorf("%d tokens instead of %v (%+.0f %%): %s", n, test.counts, 100*off, test.text)
		}
		if got := tokens.Estimate([]byte(test.text)); got != n {
			t.Errorf("%d tokens for the bytes, %d for the text", got, n)
		}
	}
}

// TestEstimateWeights checks the estimate of each class of characters.
func TestEstimateWeights(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " ": 0, "a": 1, "A": 1, "\n\n\n": 1, "one two three": 3, "camelCase": 2, "HTMLParser": 2, "AB": 1,
		"123": 2, "123456": 3, "a, b": 3, "----------": 2, "技能技能": 3, "\xff": 1,
	} {
		if n := tokens.Estimate(text); n != want {
			t.Errorf("%q has %d tokens, want %d", text, n, want)
		}
	}
}

// FuzzEstimate checks that each text has tokens, at most three for two bytes, and that joined texts do not have many more
// than their parts.
func FuzzEstimate(f *testing.F) {
	f.Add("one Two", "THREE 4")
	f.Add("1", "1a1a\n\t")
	f.Add("技", "能\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		n := tokens.Estimate(a)
		if n < 0 || n > 2+len(a)*3/2 || n == 0 && strings.Trim(a, " ") != "" {
			t.Errorf("%q has %d tokens", a, n)
		}
		if all := tokens.Estimate(a + b); utf8.ValidString(a) && all > n+tokens.Estimate(b)+2 {
			t.Errorf("%q has %d tokens, %q %d, both %d", a, n, b, tokens.Estimate(b), all)
		}
	})
}
