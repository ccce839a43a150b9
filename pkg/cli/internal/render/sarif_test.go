package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/lint"
)

const sarifPackage = "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

// SARIFSchema returns the schema of the standard. The library has it as an unexported constant and validates only its
// own types with it, which cannot have keys that we invent. So the test reads the schema from the library's source.
func SARIFSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", sarifPackage).Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.BasicLit); ok && v.Kind == token.STRING {
			text, _ = strconv.Unquote(v.Value)
		}
		return true
	})
	c := jsonschema.NewCompiler()
	c.AssertFormat = true
	if err := c.AddResource("sarif.json", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// CheckSARIF fails if a log violates the standard's schema, or if a library that reads logs cannot read it.
func CheckSARIF(t *testing.T, schema *jsonschema.Schema, text []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
	log, err := sarif.FromBytes(text)
	if err != nil || len(log.Runs) != 1 || *log.Runs[0].Tool.Driver.Name != "skillpm" {
		t.Errorf("a reader got %+v, %v", log, err)
	}
}

func TestSARIFSchemaIsStrict(t *testing.T) {
	schema := SARIFSchema(t)
	for _, text := range []string{`{"version": "2.1.0"}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "nmae": ""}}}]}`} {
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if schema.Validate(doc) == nil {
			t.Errorf("%s is taken for valid", text)
		}
	}
}

// TestSARIF checks S3, D5: logs match the standard's schema. Every result names a rule of the log by id and index, and
// has a location and a unique fingerprint.
func TestSARIF(t *testing.T) {
	schema := SARIFSchema(t)
	o := report(t, "---\nname: Bad\nname: x\n---\n[a](no.md) [a](no.md)\n")
	o.Dir, o.ShowSuppressed = "/home/x y/skills", true
	o.Suppressed = []lint.Suppressed{
		{Finding: o.Findings[0], Reason: "made at release", By: lint.ByComment},
		{Finding: o.Findings[1], By: lint.ByBaseline},
	}
	o.Findings = append(o.Findings, diag.Finding{Rule: "REF001", Path: "../else/SKILL.md", Message: "no place", Related: []string{"a/SKILL.md", "/b/SKILL.md"}}, diag.Finding{
		Rule: "FM007", Path: "/abs/SKILL.md", Line: 1, Column: 1, Message: "a BOM", Fix: "save it without",
		Edits: []diag.Edit{{Path: "/abs/SKILL.md", End: 3}, {Path: "other.md", Start: 4, End: 4, Text: "x"}},
	})
	var b bytes.Buffer
	if err := renderSARIF(&b, o); err != nil {
		t.Fatal(err)
	}
	CheckSARIF(t, schema, b.Bytes())
	var log sarifLog
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if log.Version != "2.1.0" || run.Tool.Driver.Version != "1.2.3" || len(run.Tool.Driver.Rules) != len(rule.All()) ||
		run.Bases["SRCROOT"].URI != "file:///home/x%20y/skills/" || !run.Invocations[0].Successful {
		t.Errorf("got %+v, bases %v", run.Tool.Driver, run.Bases)
	}
	prints := map[string]bool{}
	for _, res := range run.Results {
		if run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID {
			t.Errorf("%s has the index of %s", res.RuleID, run.Tool.Driver.Rules[res.RuleIndex].ID)
		}
		at := res.Locations[0].Physical
		if at.Artifact.URI == "" || at.Region != nil && (at.Region.StartLine < 1 || at.Region.StartColumn < 1) {
			t.Errorf("%s is at %+v", res.RuleID, at)
		}
		if id := res.Fingerprints["skillpm/v1"]; prints[id] {
			t.Errorf("two results with the fingerprint %s", id)
		} else {
			prints[id] = true
		}
	}
	checkTail(t, run.Results[len(run.Results)-4:])
}

// checkTail checks the results that TestSARIF added.
func checkTail(t *testing.T, last []sarifResult) {
	t.Helper()
	if got := last[0].Locations[0].Physical.Artifact; got != (sarifArtifact{URI: "file:///home/x%20y/else/SKILL.md"}) {
		t.Errorf("a file outside is %+v", got)
	}
	changes := last[1].Fixes[0].Changes
	if len(changes) != 2 || changes[0].Artifact.URI != "file:///abs/SKILL.md" || changes[1].Artifact.Base != "SRCROOT" {
		t.Errorf("got %+v", changes)
	}
	if got := changes[0].Replacements[0].Deleted.(map[string]any); got["byteLength"] != 3.0 {
		t.Errorf("an edit of a file that cannot be read is at %v", got)
	}
	if got, want := last[2].Suppressions, []sarifSuppression{{"inSource", "made at release"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := last[3].Suppressions, []sarifSuppression{{Kind: "external"}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestSARIFWithoutSuppressed checks that suppressed results are left out by default, because GitHub shows them as open
// alerts.
func TestSARIFWithoutSuppressed(t *testing.T) {
	o := report(t, "---\nname: deploy\ndescription: x\n---\nDeploy.\n")
	o.Suppressed = []lint.Suppressed{{Finding: diag.Finding{Rule: "REF001", Path: "x", Message: "y"}, By: lint.ByComment}}
	o.Findings = nil
	var b bytes.Buffer
	if err := renderSARIF(&b, o); err != nil || strings.Contains(b.String(), "suppressions") {
		t.Errorf("got %v, %s", err, &b)
	}
}

// TestFingerprints checks that fingerprints stay when lines are added above or the agent differs, and change with the
// line itself.
func TestFingerprints(t *testing.T) {
	const skill = "---\nname: deploy\ndescription: x\n---\n"
	prints := func(o Outcome) []string {
		s := sarifWriter{Outcome: o, seen: map[[sha256.Size]byte]int{}}
		var out []string
		for _, f := range o.Findings {
			f.Profile = "agentskills,pegasus"[:len(out)*4] // any
			out = append(out, s.fingerprint(f))
		}
		slices.Sort(out)
		return out
	}
	before := prints(report(t, skill+"[a](no.md)\n\n[b](no.md)\n"))
	if after := prints(report(t, skill+"\nMore.\n\n[a](no.md)\n\n[b](no.md)\n")); !slices.Equal(before, after) {
		t.Errorf("got %q and %q", before, after)
	}
	if after := prints(report(t, skill+"[a](no.md)\n\n[c](no.md)\n")); slices.Equal(before, after) {
		t.Error("another line has the same fingerprint")
	}
}

// TestSARIFRegion checks that a deleted region is in lines and columns of characters, or in bytes if readers would
// count differently.
func TestSARIFRegion(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"plain": "é\r\nab日c\n", "bom": "\ufeffab\n", "latin": "\xe9a\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		edit diag.Edit
		want any
	}{
		{diag.Edit{Path: "plain", Start: 6, End: 9}, sarifRegion{2, 3, 2, 4}},
		{diag.Edit{Path: "plain", Start: 0, End: 0}, sarifRegion{1, 1, 1, 1}},
		{diag.Edit{Path: "plain", Start: 2, End: 5}, sarifRegion{1, 2, 2, 2}},
		{diag.Edit{Path: "plain", Start: 11, End: 11}, sarifRegion{3, 1, 3, 1}},
		{diag.Edit{Path: filepath.ToSlash(filepath.Join(dir, "plain")), Start: 6, End: 9}, sarifRegion{2, 3, 2, 4}},
		{diag.Edit{Path: "plain", Start: 11, End: 12}, sarifBytes{11, 1}},
		{diag.Edit{Path: "bom", Start: 0, End: 3}, sarifBytes{0, 3}},
		{diag.Edit{Path: "latin", Start: 1, End: 2}, sarifBytes{1, 1}},
		{diag.Edit{Path: "nowhere", Start: 1, End: 2}, sarifBytes{1, 1}},
	}
	s := sarifWriter{Outcome: Outcome{Dir: dir}}
	for _, tt := range tests {
		if got := s.region(tt.edit); got != tt.want {
			t.Errorf("%+v: got %+v, want %+v", tt.edit, got, tt.want)
		}
	}
}
