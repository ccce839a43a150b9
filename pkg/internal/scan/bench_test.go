package scan

import (
	"strings"
	"testing"
)

// page is a typical text of skills: prose, lists, code, a table, and occasional characters beyond ASCII.
func page(size int) []byte {
	const piece = `## Working with reports

Use this when the user asks for a summary of sales — by quarter, by region, or by product. Read the input first,
then decide which of the ` + "`scripts/`" + ` fits. The current directory has to hold the exported tables.

1. Check that every column has a name; rename those that do not.
2. Run ` + "`python scripts/summarise.py --input data.csv --output report.md`" + ` and read what it prints.
3. Ask before anything is overwritten, and say what changed.

| Column | Type | Meaning |
|--------|------|---------|
| region | text | where the sale was made, as in the list of regions |
| amount | number | in the currency of the region, without tax |

` + "```python" + `
import csv

def load(path: str) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as f:
        return [row for row in csv.DictReader(f) if row["amount"]]
` + "```" + `

See [the reference](references/columns.md) for the rest, and https://docs.python.org/3/library/csv.html for the module.

`
	return []byte(strings.Repeat(piece, size/len(piece)+1)[:size])
}

func bench(b *testing.B, data []byte, o Options) {
	s := New()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s.Text(data, o)
	}
}

func BenchmarkText(b *testing.B) {
	markdown := Options{Markdown: true, Skill: true}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"page-8K", page(8 << 10)},
		{"page-1M", page(1 << 20)},
		{"japanese-1M", []byte(strings.Repeat("表の列名を確認し、名前のない列には名前を付けてください。", 1<<20/84))},
		{"blob-1M", []byte(random(base62+"+/", 1<<20, 1))},
		{"grams-1M", []byte(strings.Repeat("curl wget base64 sudo user password ", 1<<20/36))},
		{"pipes-1M", []byte(strings.Repeat("cu"+"rl https://host.net/x | ", 1<<20/28))},
		{"programs-1M", []byte(strings.Repeat("setup.exe and agent.zip, ", 1<<20/25))},
		{"encoded-1M", []byte(strings.Repeat("aHR0cY3VybH", 1<<20/11))},
		{"hidden-1M", []byte(strings.Repeat("\u200b\u200d", 1<<20/6))},
	} {
		b.Run(c.name, func(b *testing.B) { bench(b, c.data, markdown) })
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New()
	}
}

func TestNoAllocations(t *testing.T) {
	s, data := New(), page(1<<16)
	if n := testing.AllocsPerRun(10, func() { s.Text(data, Options{Markdown: true, Skill: true}) }); n != 0 {
		t.Errorf("%v allocations for a text without a hit", n)
	}
}
