package packsearch

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// readPacks returns the packs of testdata/packs.txt and some hundred irrelevant ones that share words with them.
func readPacks(t testing.TB) []Pack {
	t.Helper()
	var docs []Pack
	for _, line := range lines(t, "testdata/packs.txt") {
		parts := strings.Split(line, " | ")
		if len(parts) < 4 {
			t.Fatalf("packs.txt: %q", line)
		}
		d := Pack{Name: parts[0], Version: "1.0.0", Description: parts[1], Tags: strings.Split(parts[2], ", ")}
		for _, s := range parts[3:] {
			name, description, _ := strings.Cut(s, ": ")
			d.Skills = append(d.Skills, Skill{name, description})
		}
		docs = append(docs, d)
	}
	docs = append(docs, others()...)
	slices.SortFunc(docs, func(a, b Pack) int { return cmp.Compare(a.Name, b.Name) })
	return docs
}

// others generates packs from a few sentences: the same ones every time.
func others() []Pack {
	things := strings.Fields("reports tickets backups calendars surveys logs budgets photos datasets models emails tests images releases scripts queries")
	tasks := []string{"plan", "check", "write", "sort", "review", "export", "clean", "deploy", "compare", "archive", "publish", "summarise", "tag", "translate", "merge", "schedule"}
	sentences := []string{
		"Helps a team to %s %s every week and tells what changed.",
		"When somebody asks to %s %s, follow these steps and ask before anything is deleted.",
		"Rules of our house for those who %s %s in production.",
	}
	var docs []Pack
	for i, thing := range things {
		for j, task := range tasks {
			docs = append(docs, Pack{
				Name: fmt.Sprintf("house-%d/%s-%s", (i+j)%40, task, thing), Version: "0.1.0",
				Description: fmt.Sprintf(sentences[(i+j)%len(sentences)], task, thing), Tags: []string{"internal", thing},
				Skills: []Skill{{task + "-" + thing, fmt.Sprintf("How to %s %s.", task, thing)}},
			})
		}
	}
	return docs
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// TestQueries checks the ranking with fifty typical queries: the expected pack is among the first three.
func TestQueries(t *testing.T) {
	docs := readPacks(t)
	x := opened(t, docs)
	queries, found, first := 0, 0, 0
	for _, line := range lines(t, "testdata/queries.txt") {
		query, want, ok := strings.Cut(line, " | ")
		if !ok {
			t.Logf("of %d queries, %d found among the first three, %d at the top", queries, found, first)
			continue
		}
		queries++
		a, err := find(x, query, 3)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Hits, func(h Hit) bool { return h.Name == want })
		if at < 0 {
			var got []string
			for _, h := range a.Hits {
				got = append(got, fmt.Sprint(h.Name, " ", h.Why))
			}
			t.Errorf("%q: %s is not among the first three: %q", query, want, got)
			continue
		}
		found++
		if at == 0 {
			first++
		}
	}
	t.Logf("of %d queries over %d packs, %d found among the first three, %d at the top", queries, len(docs), found, first)
	if queries != 50 {
		t.Errorf("%d queries, want 50", queries)
	}
}
