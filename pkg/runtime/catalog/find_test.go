package catalog

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func readLines(t testing.TB, path string) []string {
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

// testCandidates returns the skills of testdata/find/skills.txt.
func testCandidates(t testing.TB) []Candidate {
	t.Helper()
	var docs []Candidate
	for _, line := range readLines(t, "testdata/find/skills.txt") {
		parts := strings.Split(line, " |")
		if len(parts) != 4 {
			t.Fatalf("skills.txt: %q", line)
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		docs = append(docs, Candidate{Name: parts[0], Description: parts[1], WhenToUse: parts[2], Tags: strings.Split(parts[3], ", ")})
	}
	if len(docs) < 60 {
		t.Fatalf("%d skills", len(docs))
	}
	return docs
}

// TestO3Queries checks the ranking with fifty tasks in natural language: for nine of ten, the expected skill is among
// the first three and above the threshold (SPEC O3).
func TestO3Queries(t *testing.T) {
	docs := testCandidates(t)
	for file, want := range map[string]int{"testdata/find/queries.txt": 50, "testdata/find/held-out.txt": 20} {
		queries, found, first := 0, 0, 0
		var missed []string
		for _, line := range readLines(t, file) {
			task, name, ok := strings.Cut(line, " | ")
			if !ok {
				t.Fatalf("%s: %q", file, line)
			}
			queries++
			hits := fitting(t, task, docs, 3, MatchThreshold)
			at := -1
			for i, h := range hits {
				if h.Name == name {
					at = i
				}
			}
			switch {
			case at < 0:
				missed = append(missed, fmt.Sprintf("%q wants %s, got %v", task, name, hits))
			case at == 0:
				first++
				found++
			default:
				found++
			}
		}
		t.Logf("%s: of %d, %d among the first three, %d first\n%s", file, queries, found, first, strings.Join(missed, "\n"))
		if queries != want || found*10 < queries*9 || first*10 < queries*8 {
			t.Errorf("%s: of %d tasks, %d have their skill among the first three, %d first", file, queries, found, first)
		}
	}
}

// TestLongTasks checks tasks that describe files, steps, and the form of the result, as benchmarks of agents have them:
// the skill is first although most words of the task are about something else.
func TestLongTasks(t *testing.T) {
	docs := testCandidates(t)
	for _, line := range readLines(t, "testdata/find/instructions.txt") {
		name, body, _ := strings.Cut(line, " | ")
		docs = append(docs, Candidate{Name: name, Description: "Helps with " + strings.ReplaceAll(name, "-", " ") + ".", Body: strings.ReplaceAll(body, " // ", "\n")})
	}
	below := 0
	for _, line := range readLines(t, "testdata/find/long.txt") {
		task, name, _ := strings.Cut(line, " | ")
		hits := fitting(t, task, docs, 3, 0)
		if len(hits) == 0 || hits[0].Name != name {
			t.Errorf("%.60q wants %s, got %v", task, name, hits)
		} else if hits[0].Score < MatchThreshold {
			below++
		}
	}
	if below > 1 {
		t.Errorf("%d skills are below the threshold", below)
	}
}

// TestO3Nothing searches for tasks without a suitable skill.
func TestO3Nothing(t *testing.T) {
	docs := testCandidates(t)
	for _, task := range readLines(t, "testdata/find/nothing.txt") {
		if hits := fitting(t, task, docs, 3, MatchThreshold); len(hits) > 0 {
			t.Errorf("%q: %v", task, hits)
		}
	}
}

// fitting returns the matches above a threshold, at most limit, 0 for all.
func fitting(t testing.TB, task string, candidates []Candidate, limit int, threshold float64) []Match {
	t.Helper()
	f, err := NewFinder(candidates)
	if err != nil {
		t.Fatal(err)
	}
	found, err := f.Find(task)
	if err != nil {
		t.Fatal(err)
	}
	for i := range found.Matches {
		if err := found.Explain(&found.Matches[i]); err != nil {
			t.Fatal(err)
		}
	}
	matches := slices.DeleteFunc(found.Matches, func(m Match) bool { return m.Score < threshold })
	if limit > 0 {
		matches = matches[:min(limit, len(matches))]
	}
	return matches
}
