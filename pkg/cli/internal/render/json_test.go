package render_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/cli/internal/render"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/schema"
)

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := schema.Read("output/validate")
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(schema.Base+"output/validate.schema.json", string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func conforms(t *testing.T, s *jsonschema.Schema, text []byte) {
	t.Helper()
	var doc any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := s.Validate(doc); err != nil {
		t.Errorf("%#v\n%s", err, text)
	}
}

// invoke runs skillpm in a directory and returns the exit code and both outputs.
func invoke(t *testing.T, dir string, args ...string) (code diag.Code, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	sys := environ.Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: dir, Paths: scope.Paths{Home: t.TempDir()}, OS: "linux", Now: time.Now,
		Getenv: func(string) string { return "" },
	}
	code = cli.Execute(t.Context(), sys, args)
	return code, out.String(), errs.String()
}

// plant writes files below a new directory.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestReportsConform checks that the documents of real runs match the schema, and that the logs of the same runs match
// the SARIF schema.
func TestReportsConform(t *testing.T) {
	dir := plant(t, map[string]string{
		"clean/SKILL.md":        "---\nname: clean\ndescription: Does nothing. Use never.\n---\n\nDo nothing.\n",
		"none/SKILL.md":         "# No frontmatter\n",
		"bad/SKILL.md":          "\ufeff---\r\nname: Bad\r\nname: x\r\nallowed-tools: [Read, Bash]\r\nmetadata:\r\n  a: 1.10\r\n---\r\n[a](no.md) [b](../clean/SKILL.md)\r\n```\r\n",
		"bad/x.sh~":             "",
		"bad/scripts/run.sh":    "#!/bin/sh\r\necho \"\r\n",
		"bad/scripts/data.json": "{",
		"bad/\u202e.md":         "hidden\n",
		"empty/SKILL.md":        "",
		"skillpm.yaml":          "name: acme/pack\nversion: \"1.0.0\"\n",
	})
	reports, logs := reportSchema(t), render.SARIFSchema(t)
	for _, args := range [][]string{
		{"clean"},
		{"none"},
		{"bad"},
		{},
		{"--profile", "all"},
		{"--diff"},
		{"--fix"},
		{"--profile", "claude-code,toolset", filepath.Join(dir, "bad"), "clean"},
	} {
		code, stdout, stderr := invoke(t, dir, append([]string{"validate", "--json", "--output", "log.sarif"}, args...)...)
		if (code != diag.OK && code != diag.Invalid) || stderr != "" {
			t.Fatalf("%q: exit %d, %s", args, code, stderr)
		}
		conforms(t, reports, []byte(stdout))
		log, err := os.ReadFile(filepath.Join(dir, "log.sarif"))
		if err != nil {
			t.Fatal(err)
		}
		render.CheckSARIF(t, logs, log)
	}
}

// TestCorpusConforms checks that the reports on a collection of real skills match the schemas.
func TestCorpusConforms(t *testing.T) {
	corpus := os.Getenv("SKILLPM_CORPUS")
	if corpus == "" {
		t.Skip("SKILLPM_CORPUS names no collection of skills")
	}
	dir := t.TempDir()
	code, stdout, stderr := invoke(t, dir, "validate", "--json", "--profile", "all", "-o", "log.sarif", "-o", "report.xml", "-o", "report.txt", corpus)
	if code != diag.Invalid && code != diag.OK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	conforms(t, reportSchema(t), []byte(stdout))
	log, err := os.ReadFile(filepath.Join(dir, "log.sarif"))
	if err != nil {
		t.Fatal(err)
	}
	render.CheckSARIF(t, render.SARIFSchema(t), log)
	data, err := os.ReadFile(filepath.Join(dir, "report.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(data, new(render.JUnitSuites)); err != nil {
		t.Error(err)
	}
}

// TestReportConforms checks that parts that no real run has yet match the schema: positions, edits, suppressions,
// verdicts.
func TestReportConforms(t *testing.T) {
	finding := diag.Finding{
		Rule: "REF001", Path: "a/SKILL.md", Line: 1, Column: 1, EndLine: 1, EndColumn: 2, Message: "x", Fix: "y", Profile: "a,b", Fixable: true,
		Related: []string{"b/SKILL.md"},
		Edits:   []diag.Edit{{Path: "a/SKILL.md", Start: 0, End: 1, Text: "z"}, {Path: "a/x.sh", Executable: true}},
	}
	o := render.Outcome{Report: lint.Report{
		Profiles: []string{"a", "b"}, Skills: []string{"a"}, Findings: []diag.Finding{finding},
		Suppressed: []lint.Suppressed{{Finding: finding, Reason: "z", By: lint.ByBaseline}, {Finding: finding, By: lint.ByConfiguration}},
		Verdicts: []lint.ProfileVerdict{
			{Skill: "a", Profile: "a", Accepted: true}, {Skill: "a", Profile: "b", Reasons: []string{"FM001", "REF001"}},
		},
	}}
	var b bytes.Buffer
	if err := render.JSON(&b, o); err != nil {
		t.Fatal(err)
	}
	conforms(t, reportSchema(t), b.Bytes())
	var doc render.JSONReport
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	want := render.JSONSummary{Skills: 1, Errors: 1, Suppressed: 2, Fixable: render.JSONFixable{Errors: 1}, Rules: []render.JSONRule{{Rule: "REF001", Findings: 1, Skills: 1}}}
	if !reflect.DeepEqual(doc.Summary, want) || len(doc.Matrix) != 2 || doc.Matrix[0].Reasons == nil {
		t.Errorf("got %+v, %+v", doc.Summary, doc.Matrix)
	}
}

// TestReportSchemaIsComplete checks that the schema describes exactly the keys that reports have.
func TestReportSchemaIsComplete(t *testing.T) {
	s := reportSchema(t).AnyOf[0] // the other is the result of --write-baseline
	at := func(s *jsonschema.Schema, steps ...string) *jsonschema.Schema {
		for _, step := range steps {
			if s = s.Properties[step]; s.Items2020 != nil {
				s = s.Items2020
			}
			if s.Ref != nil && len(s.Properties) == 0 {
				s = s.Ref
			}
		}
		return s
	}
	finding := at(s, "findings")
	for _, tt := range []struct {
		value  any
		schema *jsonschema.Schema
	}{
		{struct {
			SchemaVersion int `json:"schemaVersion"`
			render.JSONReport
		}{}, s},
		{render.JSONSummary{}, at(s, "summary")},
		{render.JSONFixable{}, at(s, "summary", "fixable")},
		{lint.ProfileVerdict{}, at(s, "matrix")},
		{publish.FixedFile{}, at(s, "fixed")},
		{diag.Finding{}, finding},
		{diag.Edit{}, at(finding, "edits")},
		{lint.Suppressed{}, at(s, "suppressed")},
	} {
		var got []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(tt.value)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || f.Anonymous {
				continue
			}
			got = append(got, cmp.Or(name, strings.ToLower(f.Name)))
		}
		slices.Sort(got)
		if want := slices.Sorted(maps.Keys(tt.schema.Properties)); !slices.Equal(got, want) {
			t.Errorf("%T has the keys %q, and the schema %q", tt.value, got, want)
		}
	}
}

// TestReportSchemaIsStrict checks that the schema rejects undescribed keys.
func TestReportSchemaIsStrict(t *testing.T) {
	var b bytes.Buffer
	if err := render.JSON(&b, render.Outcome{Report: lint.Report{Findings: []diag.Finding{{Rule: "FM001", Path: "a", Message: "m"}}}}); err != nil {
		t.Fatal(err)
	}
	s := reportSchema(t)
	for _, change := range []string{`"message": "m"`, `"ok": false`, `"warnings": 0`} {
		text := strings.Replace(b.String(), change, change+`, "more": 1`, 1)
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if s.Validate(doc) == nil {
			t.Errorf("a key after %s is taken for valid", change)
		}
	}
}
