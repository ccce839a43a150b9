package similar_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/lint/internal/similar"
	"github.com/skillpm/skillpm/pkg/skill"
)

func TestMatches(t *testing.T) {
	const pdf = "Extract text and tables from PDF files, fill in forms, and merge documents when the user asks for it."
	for _, tt := range []struct {
		name  string
		texts []string
		want  []similar.Match
	}{
		{"none", nil, nil},
		{"one", []string{pdf}, nil},
		{"the same text", []string{pdf, pdf}, nil},
		{"case and punctuation", []string{pdf, strings.ToUpper(strings.ReplaceAll(pdf, ",", " -"))}, []similar.Match{{1, 0, 1}}},
		{"one word changed", []string{pdf, strings.Replace(pdf, "merge", "split", 1)}, []similar.Match{{1, 0, 16.0 / 20}}},
		{"two words changed", []string{pdf, strings.Replace(strings.Replace(pdf, "merge", "split", 1), "fill", "read", 1)}, nil},
		{"one word in eight", []string{"Best practices for unit tests with the framework alpha", "Best practices for unit tests with the framework beta"}, nil},
		{"the best one", []string{pdf, pdf + " Not for Word documents.", pdf + " Now."}, []similar.Match{{1, 0, 18.0 / 22}, {2, 0, 18.0 / 19}}},
		{"the first of equals", []string{pdf + " One.", pdf + " Two.", pdf + " Three."}, []similar.Match{{1, 0, 0.9}, {2, 0, 0.9}}},
		{"not with what is a copy", []string{pdf, pdf, pdf + " One."}, []similar.Match{{2, 0, 18.0 / 19}}},
		{"words", []string{"deploy", "Deploy!", "deploys"}, []similar.Match{{1, 0, 1}}},
		{"two words", []string{"deploy it", "Deploy it.", "it deploy"}, []similar.Match{{1, 0, 1}}},
		{"without words", []string{"", " ", "-", "…", "—"}, nil},
		{"order of words", []string{"a b c d e f g h", "h g f e d c b a"}, nil},
		{"accents", []string{"Öffnet die Tür für ÄRZTE", "öffnet die tür für ärzte"}, []similar.Match{{1, 0, 1}}},
		{"Chinese", []string{"从PDF文件中提取文本和表格并填写表单", "从PDF文件中提取文本和表格并填写表单。", "从PDF文件中提取文本和表格并填写表格"}, []similar.Match{{1, 0, 1}, {2, 0, 15.0 / 16}}},
	} {
		got := similar.Matches(tt.texts, similar.Threshold)
		if !slices.EqualFunc(got, tt.want, func(a, b similar.Match) bool {
			return a.Text == b.Text && a.Of == b.Of && math.Abs(a.Score-b.Score) < 1e-9
		}) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	for _, none := range []float64{0, -1, 1.1, math.NaN(), math.Inf(1)} {
		if got := similar.Matches([]string{"a", "a."}, none); got != nil {
			t.Errorf("threshold %v: got %v", none, got)
		}
	}
}

// naive compares every text with every earlier one, and returns all pairs that are similar enough, the best first.
func naive(texts []string, threshold float64) map[int][]similar.Match {
	sets := make([]map[string]bool, len(texts))
	for i, text := range texts {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Number, unicode.Mark) })
		sets[i] = make(map[string]bool)
		for at := 1; at < len(words); at++ {
			sets[i][words[at-1]+" "+words[at]] = true
		}
		if len(words) == 1 {
			sets[i][words[0]] = true
		}
		if slices.Contains(texts[:i], text) {
			sets[i] = nil
		}
	}
	found := make(map[int][]similar.Match)
	for i, x := range sets {
		for j, y := range sets[:i] {
			both := 0
			for s := range x {
				if y[s] {
					both++
				}
			}
			if score := float64(both) / float64(len(x)+len(y)-both); both > 0 && score >= threshold {
				found[i] = append(found[i], similar.Match{Text: i, Of: j, Score: score})
			}
		}
		slices.SortStableFunc(found[i], func(a, b similar.Match) int { return cmp.Compare(b.Score, a.Score) })
	}
	return found
}

// check compares the result of Matches with that of comparing all pairs.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, texts []string, threshold float64,
) {
	t.Helper()
	want := naive(texts, threshold)
	got := make(map[int]similar.Match)
	last := -1
	for _, m := range similar.Matches(texts, threshold) {
		if m.Text <= last {
			t.Fatalf("out of order: %v after %d", m, last)
		}
		got[m.Text], last = m, m.Text
	}
	for i := range texts {
		m, ok := got[i]
		switch all := want[i]; {
		case ok != (len(all) > 0):
			t.Fatalf("%q: found %v, and there are %v", texts[i], m, all)
		case ok && len(all) < 32 && m != all[0]:
			t.Fatalf("%q: found %v, and the best is %v", texts[i], m, all[0])
		case ok && !slices.Contains(all, m):
			t.Fatalf("%q: found %v, which is not similar", texts[i], m)
		}
	}
}

func TestMatchesAgainstAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := rapid.SampledFrom([]string{"ab", "abcd", "abcdefghijklmnop"}).Draw(t, "words")
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Split(alphabet, "")), 0, 12).Draw(t, "text"), " ")
		})
		texts := rapid.SliceOfN(text, 0, 60).Draw(t, "texts")
		for i := 1; i < len(texts); i++ { // some are made of earlier ones
			if rapid.IntRange(0, 2).Draw(t, "edit") == 0 {
				of := strings.Fields(texts[rapid.IntRange(0, i-1).Draw(t, "of")])
				if len(of) > 0 {
					of[rapid.IntRange(0, len(of)-1).Draw(t, "at")] = rapid.SampledFrom([]string{"a", "b", "x y", ""}).Draw(t, "word")
				}
				texts[i] = strings.Join(of, " ")
			}
		}
		check(t, texts, rapid.SampledFrom([]float64{0.05, 0.3, 0.5, 2.0 / 3, 0.75, 0.8, 0.9, 0.95, 1}).Draw(t, "threshold"))
	})
}

func TestMatchesOfMany(t *testing.T) {
	check(t, templates(200), similar.Threshold)
	check(t, descriptions(600), similar.Threshold)
	check(t, descriptions(600), 0.3)
}

func FuzzMatches(f *testing.F) {
	f.Add("one two three\nOne, two — three\nein Wort", 0.8)
	f.Add("漢字 かな\n漢字かな\n한국어 텍스트\xff", 0.5)
	f.Fuzz(func(t *testing.T, text string, threshold float64) {
		texts := strings.Split(text, "\n")
		got := similar.Matches(texts, threshold)
		for _, m := range got {
			if m.Of >= m.Text || m.Score < threshold || m.Score > 1 || texts[m.Text] == texts[m.Of] {
				t.Errorf("%q: %v", texts, m)
			}
		}
		if again := similar.Matches(texts, threshold); !slices.Equal(got, again) {
			t.Errorf("first %v, then %v", got, again)
		}
	})
}

func TestApart(t *testing.T) {
	for _, tt := range []struct {
		nameA, textA, nameB, textB string
		want                       bool
	}{
		{"pdf-to-text", "Converts PDF files to text.", "word-to-text", "Converts Word files to text.", true},
		{"pdf-to-text", "Converts files to text.", "word-to-text", "Converts Word files to text.", false},
		{"java-web", "Best practices for the web.", "kotlin-web", "Best practices for the web and Kotlin.", false},
		{"deploy", "Deploys it.", "deploy-2", "Deploys it.", false},
		{"to-cy", "Translates pages to Welsh.", "to-uk", "Translates pages to Ukrainian.", true},
		{"iso-a", "Checks pages for ISO 9001.", "iso-b", "Checks pages for ISO 27001.", true},
		{"a", "Translates pages. Use often.", "b", "Translates pages. Ask often.", false},
		{"", "", "", "", false},
	} {
		if got := similar.Distinguishable(tt.nameA, tt.textA, tt.nameB, tt.textB); got != tt.want {
			t.Errorf("%+v: %t", tt, got)
		}
		if got := similar.Distinguishable(tt.nameB, tt.textB, tt.nameA, tt.textA); got != tt.want {
			t.Errorf("%+v, the other way round: %t", tt, got)
		}
	}
}

func TestSquash(t *testing.T) {
	for _, same := range [][]string{
		{"pdf-tools", "pdf-tool", "pdftool", "pdftools", "PDF_Tools", "pdfs-tool"},
		{"aws", "a-ws"},
		{"aw"},
		{"access-key", "accesskeys"},
		{"acces-key"},
		{"doc", "docs"},
		{"", "-", "--"},
		{"größe", "größes"},
	} {
		for _, name := range same {
			if similar.Squash(name) != similar.Squash(same[0]) {
				t.Errorf("%s becomes %s, and %s %s", name, similar.Squash(name), same[0], similar.Squash(same[0]))
			}
		}
	}
	for _, other := range [][2]string{{"aws", "aw"}, {"access", "acces"}, {"pdf-tool", "pdf-tooling"}, {"css", "cs"}} {
		if similar.Squash(other[0]) == similar.Squash(other[1]) {
			t.Errorf("%s and %s are one", other[0], other[1])
		}
	}
}

// TestCorpus lists the matches in a directory of real skills, which SKILLPM_CORPUS names.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("SKILLPM_CORPUS")
	if dir == "" {
		t.Skip("SKILLPM_CORPUS is not set")
	}
	var names, texts []string
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.Name() != "SKILL.md" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		doc, _ := skill.Parse(data)
		names, texts = append(names, doc.Name()), append(texts, doc.Description())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range similar.Matches(texts, 0.65) {
		t.Logf("%.2f apart=%t %s and %s", m.Score, similar.Distinguishable(names[m.Text], texts[m.Text], names[m.Of], texts[m.Of]), names[m.Of], names[m.Text])
	}
	t.Logf("%d texts", len(texts))
}

// descriptions returns n texts of 40 words with natural word frequencies. One in ten is an earlier text with one
// changed word.
func descriptions(n int) []string {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 8, 20000)
	texts := make([]string, n)
	for i := range texts {
		words := make([]string, 40)
		for at := range words {
			words[at] = fmt.Sprintf("w%x", zipf.Uint64())
		}
		if i > 0 && random.IntN(10) == 0 {
			words = strings.Fields(texts[random.IntN(i)])
			words[random.IntN(len(words))] = "changed"
		}
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

// templates returns n texts of 40 words that differ in one word.
func templates(n int) []string {
	words := strings.Fields(descriptions(1)[0])
	texts := make([]string, n)
	for i := range texts {
		words[20] = fmt.Sprint("number", i)
		texts[i] = strings.Join(words, " ")
	}
	return texts
}

func BenchmarkMatches(b *testing.B) {
	few := make([]string, 10000) // of fifty words that there are
	random := rand.New(rand.NewPCG(3, 4))
	for i := range few {
		for range 40 {
			few[i] += fmt.Sprintf("word%d ", random.IntN(50))
		}
	}
	for _, bench := range []struct {
		name  string
		texts []string
	}{
		{"1000", descriptions(1000)},
		{"10000", descriptions(10000)},
		{"10000 of one template", templates(10000)},
		{"10000 of fifty words", few},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				similar.Matches(bench.texts, similar.Threshold)
			}
		})
	}
}
