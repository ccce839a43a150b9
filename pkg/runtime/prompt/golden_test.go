package prompt_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/prompt"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

func load(t testing.TB, id string) *profile.Profile {
	t.Helper()
	p, err := profile.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func hosts(t testing.TB) []*profile.Profile {
	t.Helper()
	all, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 7 {
		t.Fatalf("%d profiles of hosts", len(all))
	}
	return all
}

// skills are the skills in the listings of the golden files, unsorted.
func skills() []prompt.Entry {
	return []prompt.Entry{
		entry("release-notes", "Write release notes from commits.", 1, "git", "text"),
		entry("deploy", "Deploy a service to <staging> & production, when a\n  \"release\" is ready.", 0, "ops"),
		entry("pdf", "Fill in forms; extract tables where rows < 100.", 2),
		withWhen(entry("review", "Review a change.", 0, "git"), "The user asks for a review."),
	}
}

func entry(name, description string, rank int, tags ...string) prompt.Entry {
	dir := "/home/ada/skills/" + name
	return prompt.Entry{
		Name: name, Description: description, Dir: dir, Location: dir + "/SKILL.md", Rank: rank, Tags: tags,
		Layer: []string{"personal", "project", "plugin"}[rank],
	}
}

func withWhen(e prompt.Entry, when string) prompt.Entry {
	e.WhenToUse = when
	return e
}

// TestGolden checks the exact output of every profile: SPEC P5, P7, P8, O7, O8, K3, K6, T3, D5, S2.
func TestGolden(t *testing.T) {
	for _, p := range hosts(t) {
		t.Run(p.ID, func(t *testing.T) {
			listings(t, p)
			results(t, p)
		})
	}
}

func listings(t *testing.T, p *profile.Profile) {
	for _, tt := range []struct {
		name    string
		entries []prompt.Entry
		o       prompt.Options
	}{
		{"listing", skills(), prompt.Options{}},
		{"listing-empty", nil, prompt.Options{}},
		{"listing-compact", skills(), prompt.Options{Compact: true}},
	} {
		l, err := prompt.List(p, tt.entries, tt.o)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, p.ID+"/"+tt.name+".txt", l.Text)
	}
	full, err := prompt.List(p, skills(), prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	over, err := prompt.List(p, skills(), prompt.Options{Budget: len([]rune(full.Text)) - 40})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, p.ID+"/listing-over-budget.txt", over.Text)
	tools, _, err := prompt.Tools(p, skills(), prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, tool := range tools {
		text, err := tool.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	golden(t, p.ID+"/tools.ndjson", b.String())
}

func results(t *testing.T, p *profile.Profile) {
	base := prompt.Result{
		Name: "deploy", Dir: "/home/ada/skills/deploy", Description: "Deploy a service.",
		Body:   "# Deploy\n\nDeploy web to staging. Run `scripts/go.sh`.\n",
		Source: "---\nname: deploy\ndescription: Deploy a service.\n---\n# Deploy\n\nDeploy web to staging. Run `scripts/go.sh`.\n",
		Files: []prompt.File{
			{Path: "docs/limits.md", Description: "what staging can take"},
			{Path: "scripts/go.sh", Description: "deploys, and waits"},
		},
		Started: time.Date(2026, 11, 22, 10, 30, 0, 0, time.UTC), Duration: 1834 * time.Millisecond,
	}
	for _, kind := range []string{prompt.Activated, prompt.Spawned, prompt.Failed, prompt.Unknown, prompt.Read} {
		r := base
		r.Kind = kind
		switch kind {
		case prompt.Spawned:
			r.TaskID = "t-20261122-0001"
		case prompt.Failed:
			r.Err = diag.Errorf(diag.Conflict, "skill %q is already active", "deploy").WithHint("skillpm deactivate deploy")
		case prompt.Unknown:
			r = prompt.Result{Kind: kind, Name: "deplyo", Started: base.Started, Duration: 2 * time.Millisecond}
			r.Err = diag.Errorf(diag.NotFound, "unknown skill %q: available skills are deploy, pdf", "deplyo").WithHint("did you mean deploy?")
			r.Available = []string{"deploy", "pdf", "release-notes", "review"}
		case prompt.Read:
			r.Path, r.Body = "docs/limits.md", "# Limits\n\nTwo instances.\n"
		}
		golden(t, p.ID+"/"+kind+".txt", prompt.Text(p, r))
		data, err := prompt.JSON(p, r)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, p.ID+"/"+kind+".json", string(data))
	}
	base.Kind = prompt.Activated
	golden(t, p.ID+"/message.txt", prompt.Message(p, base))
	golden(t, p.ID+"/notice.txt", prompt.Notice(p, base))
}

// TestWrongTemplate checks that an invalid profile that was built in code is an error.
func TestWrongTemplate(t *testing.T) {
	p := load(t, "pegasus")
	p.Stage1.Entry = "[[{name}"
	if _, err := prompt.List(p, skills(), prompt.Options{}); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("got %v", err)
	}
	p.Activation.Failed.JSON = yaml.Node{}
	if _, err := prompt.JSON(p, prompt.Result{Kind: prompt.Failed, Err: errors.New("no")}); diag.CodeOf(err) != diag.Invalid {
		t.Errorf("got %v", err)
	}
}
