package catalog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var few5 = []Candidate{
	{Name: "deploy", Description: "Rolls a service out to Kubernetes.", WhenToUse: "Use when asked to ship.", Tags: []string{"operations"}},
	{Name: "change-log", Description: "Keeps the notes of a project."},
	{Name: "Größe", Description: "Misst die Größe von Bildern."},
	{Name: "zhou-bao", Description: "根据本周的提交和任务写周报。"},
	{Name: "landingpage", Description: "Designs pages for a start.", Tags: []string{"web", "C++"}},
}

// TestO3Find checks SPEC O3: the description, the tags, and /name are matched, and the result states the reason.
func TestO3Find(t *testing.T) {
	for task, want := range map[string]string{
		"ship a service":                "deploy [description: service when to use: ship]",
		"OPERATIONS":                    "deploy [tags: operations]",
		"k8s":                           "deploy [description: kubernetes (k8s)]",
		"kubernets":                     "deploy [description: kubernetes (kubernets)]",
		"kubern":                        "deploy [description: kubernetes (kubern)]",
		"depoly":                        "deploy [name: deploy (depoly)]",
		"changelog":                     "change-log [name: change-log (changelog)]",
		"design a landing page":         "landingpage [name: landingpage (landing page) description: designs (design)]",
		"grosse grösse GRÖSSE":          "",
		"größe":                         "Größe [exact name name: große]",
		"写周报":                           "zhou-bao [description: 写周, 周报]",
		"c++":                           "landingpage [tags: cpp]",
		"/deploy":                       "deploy [requested by name name: deploy]",
		"/DEPLOY the notes of projects": "deploy [requested by name]; change-log [description: notes, project (projects)]",
		"/nothing ship it":              "deploy [when to use: ship]",
		"deploy":                        "deploy [exact name name: deploy]",
		"please help me":                "",
		"":                              "",
		" / ":                           "",
		"\x00\xff\xfe \u202e":           "",
		"bake bread":                    "",
	} {
		var got []string
		for _, h := range fitting(t, task, few5, 0, MatchThreshold) {
			got = append(got, fmt.Sprint(h.Name, " ", h.Why))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%q:\n got %s\nwant %s", task, text, want)
		}
	}
	if hits := fitting(t, "service notes pages", few5, 2, 0); len(hits) != 2 {
		t.Errorf("with a limit: %v", hits)
	}
	if hits := fitting(t, "service notes pages", few5, 0, 1); len(hits) != 0 {
		t.Errorf("with a threshold of 1: %v", hits)
	}
}

// TestInstructionsCountLess checks that instructions full of popular words do not match better than a name or a
// description of usual length, that headings count more than text, and that code is not taken for headings.
func TestInstructionsCountLess(t *testing.T) {
	words := "deploy kubernetes cluster service rollout "
	stuffed := strings.Repeat("# "+words+"\n"+strings.Repeat(words, 50)+" a/deploy.md\n", 20)
	docs := []Candidate{
		{Name: "stuffed", Description: "Anything for everybody in every situation.", Body: stuffed},
		{Name: "kube", Description: "Rolls a service out to a Kubernetes cluster, checks its health, and asks before it removes anything old."},
		{Name: "deploy", Description: "Does it."},
	}
	for i := range 20 {
		docs = append(docs, Candidate{Name: fmt.Sprint("other-", i), Description: "Writes reports."})
	}
	for _, task := range []string{"kubernetes", "service", "deploy", "deploy deploy deploy"} {
		if hits := fitting(t, task, docs, 1, 0); hits[0].Name == "stuffed" {
			t.Errorf("%q: %v", task, hits)
		}
	}
	docs = []Candidate{
		{Name: "a", Body: "```sh\n# pepper\n```\nIt is salt."},
		{Name: "b", Body: "# Pepper\n\nSalt."},
		{Name: "c", Body: "See references/saffron_guide.md and https://example.com/vanilla.md"},
	}
	if hits := fitting(t, "pepper", docs, 0, 0); len(hits) != 2 || hits[0].Name != "b" || hits[0].Why[0] != "headings: pepper" {
		t.Errorf("%v", hits)
	}
	if hits := fitting(t, "saffron", docs, 0, 0); len(hits) != 1 || hits[0].Why[0] != "files: saffron" {
		t.Errorf("%v", hits)
	}
}

// TestPowerpoint checks that a synonym leads to a skill.
func TestPowerpoint(t *testing.T) {
	docs := append([]Candidate{{Name: "slide-deck", Description: "Builds decks."}}, testCandidates(t)...)
	hits := fitting(t, "make a powerpoint", docs, 0, MatchThreshold)
	if len(hits) == 0 || hits[0].Name != "slide-deck" {
		t.Errorf("%v", hits)
	}
}

// TestO3NamesFirst searches for skills by name that other skills match better.
func TestO3NamesFirst(t *testing.T) {
	docs := testCandidates(t)
	for _, d := range docs {
		for _, task := range []string{"/" + d.Name, d.Name, "/" + d.Name + " deploy the kubernetes service"} {
			hits := fitting(t, task, docs, 3, MatchThreshold)
			if len(hits) == 0 || hits[0].Name != d.Name || hits[0].Score != 1 {
				t.Errorf("%q: %v", task, hits)
			}
		}
	}
}

// TestOrder checks that the result does not depend on the order of the skills.
func TestOrder(t *testing.T) {
	docs := testCandidates(t)
	for _, line := range readLines(t, "testdata/find/queries.txt") {
		task, _, _ := strings.Cut(line, " | ")
		want := fitting(t, task, docs, 0, 0)
		r := rand.New(rand.NewPCG(1, 2))
		for range 3 {
			mixed := slices.Clone(docs)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			got := fitting(t, task, mixed, 0, 0)
			same := slices.EqualFunc(got, want, func(a, b Match) bool {
				return a.Name == b.Name && a.Score == b.Score && slices.Equal(a.Why, b.Why) && mixed[a.Index].Name == a.Name
			})
			if !same {
				t.Fatalf("%q:\n got %v\nwant %v", task, got, want)
			}
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("ship a service", "deploy", "Rolls a service out.", "ops")
	f.Add("/x 周报 c++", "x-y", "周报 don't k8s", "a b")
	f.Add("aaaa aaab aa", "aaa", "aab aaaab", "aaba")
	f.Fuzz(func(t *testing.T, task, name, description, tag string) {
		docs := append([]Candidate{{Name: name, Description: description, WhenToUse: tag, Tags: []string{tag, task}}, {Name: description, Description: name}}, few5...)
		last := 1.0
		for i, h := range fitting(t, task, docs, 0, 0) {
			if h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > last || len(h.Why) == 0 || docs[h.Index].Name != h.Name {
				t.Errorf("%+v after %v", h, last)
			}
			last = h.Score
		}
	})
}

// manySkills returns n skills: the skills of the catalog, with words swapped between them.
func manySkills(b *testing.B, n int) []Candidate {
	from := testCandidates(b)
	r := rand.New(rand.NewPCG(3, 4))
	docs := make([]Candidate, n)
	for i := range docs {
		one, other := from[r.IntN(len(from))], from[r.IntN(len(from))]
		docs[i] = Candidate{
			Name:        fmt.Sprintf("%s-%d", one.Name, i),
			Description: one.Description + " " + other.Description, WhenToUse: one.WhenToUse, Tags: one.Tags,
		}
	}
	return docs
}

func BenchmarkFind(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		docs := manySkills(b, n)
		for name, task := range map[string]string{
			"known": "my pods keep crashing after a rollout", "unknown": "recommend an affordable restaurant in Lisbon",
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					fitting(b, task, docs, 10, MatchThreshold)
				}
			})
		}
	}
}
