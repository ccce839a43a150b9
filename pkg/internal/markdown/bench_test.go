package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// sample returns a page of about n bytes with all constructs of skills in typical proportions.
func sample(n int) []byte {
	var b strings.Builder
	b.WriteString("# Deploying\n\nWhat to do, and in which order.\n\n")
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Step %d: prepare the release\n\n", i)
		b.WriteString("Check the [reference](references/one.md#usage) before you run `scripts/run.sh`, and *read* what it says.\n" +
			"Nothing here depends on the order of the **other** steps, unless a step says so; see [the table][table] for\n" +
			"what each of them needs. Some of it was measured, and some of it is a guess.\n\n")
		b.WriteString("- one thing to remember, in a line of its own\n- another with `code` in it\n  - and something below it\n    that goes on\n\n")
		b.WriteString("```bash\n./scripts/run.sh --dry-run | tee out.log\nfor f in *.yaml; do\n  kubectl apply -f \"$f\" # one [by](one)\ndone\n```\n\n")
		b.WriteString("| Step | Command | Needs |\n|------|:-------:|-------|\n| first | `run.sh` | nothing |\n| second | `run.sh -v` | [first](#step-1) |\n\n")
		b.WriteString("1. Say what you want, in words that somebody else would use as well.\n2. Wait for the answer.\n\n> Note: this is\n> a quote.\n\n")
		b.WriteString("```python\nimport os\n\ndef main():\n    print(os.environ[\"HOME\"])\n    return [x for x in range(10) if x < 5]\n```\n\n")
	}
	b.WriteString("[table]: references/table.md \"The table\"\n")
	return []byte(b.String())
}

var sizes = []int{1 << 10, 8 << 10, 64 << 10}

func BenchmarkRead(b *testing.B) {
	for _, size := range sizes {
		page := sample(size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			r := new(Reader)
			for b.Loop() {
				if p := r.Read(page, 0); len(p.Links) < 2 {
					b.Fatal(p.Links)
				}
			}
		})
	}
}

// BenchmarkGoldmark measures goldmark's parser alone.
func BenchmarkGoldmark(b *testing.B) {
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Footnote)).Parser()
	for _, size := range sizes {
		page := sample(size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				if parser.Parse(text.NewReader(page)).ChildCount() < 2 {
					b.Fatal("no blocks")
				}
			}
		})
	}
}

// BenchmarkCorpus reads all pages of the corpus, with one reader.
func BenchmarkCorpus(b *testing.B) {
	var pages [][]byte
	size := 0
	corpus(b, func(_ string, text []byte) {
		pages = append(pages, text)
		size += len(text)
	})
	b.SetBytes(int64(size))
	b.ReportAllocs()
	r := new(Reader)
	for b.Loop() {
		links := 0
		for _, page := range pages {
			links += len(r.Read(page, 0).Links)
		}
		if links == 0 {
			b.Fatal("no links")
		}
	}
	b.ReportMetric(float64(len(pages)), "pages/op")
}
