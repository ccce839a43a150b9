package lint_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/schema"
)

func baselineDigest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func baselineFinding(rule, path, c string) lint.BaselineFinding {
	return lint.BaselineFinding{Rule: rule, Path: path, Digest: baselineDigest(c)}
}

// text is a baseline in skillpm's format.
var text = `# Findings that skillpm validate --baseline accepts, each for a reason and until the text changes.
# Written by skillpm validate --write-baseline. You can edit reasons and dates, and delete entries.
version: 1
findings:
  - rule: REF001
    path: skills/deploy/SKILL.md
    digest: "` + baselineDigest("a") + `"
    reason: "the file is generated at release"
    expires: 2027-01-31
    count: 2
  - rule: REF001
    path: skills/deploy/SKILL.md
    digest: "` + baselineDigest("b") + `"
    reason: "say \"why\""
  - rule: SEC001
    path: "true"
    digest: "` + baselineDigest("a") + `"
    reason: "ein Name, der für YAML keiner ist"
`

func parseBaseline(t testing.TB, text string) *lint.Baseline {
	t.Helper()
	b, err := lint.ParseBaseline("baseline.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBaselineParseAndEncode(t *testing.T) {
	b := parseBaseline(t, text)
	want := []lint.BaselineEntry{
		{baselineFinding("REF001", "skills/deploy/SKILL.md", "a"), "the file is generated at release", "2027-01-31", 2, 5},
		{baselineFinding("REF001", "skills/deploy/SKILL.md", "b"), `say "why"`, "", 1, 11},
		{baselineFinding("SEC001", "true", "a"), "ein Name, der für YAML keiner ist", "", 1, 15},
	}
	if !slices.Equal(b.Entries, want) {
		t.Errorf("got %+v", b.Entries)
	}
	if got := string(b.Encode()); got != text {
		t.Errorf("written again:\n%s", got)
	}
	slices.Reverse(b.Entries)
	if got := string(b.Encode()); got != text {
		t.Errorf("out of order:\n%s", got)
	}
	if b.Entries[0].Rule != "SEC001" {
		t.Error("Encode changes what it writes")
	}
	empty := &lint.Baseline{}
	if got := parseBaseline(t, string(empty.Encode())); len(got.Entries) != 0 || !strings.HasSuffix(string(empty.Encode()), "version: 1\nfindings: []\n") {
		t.Errorf("an empty one: %+v\n%s", got, empty.Encode())
	}
}

// TestBaselineParseForms checks that handwritten forms have the same meaning.
func TestBaselineParseForms(t *testing.T) {
	for name, form := range map[string]string{
		"Windows line ends":   strings.ReplaceAll(text, "\n", "\r\n"),
		"byte order mark":     "\ufeff" + text,
		"quotes":              strings.Replace(strings.Replace(text, "2027-01-31", `"2027-01-31"`, 1), "version: 1", `version: "1"`, 1),
		"count of one":        strings.Replace(text, "    reason: \"say", "    count: 1\n    reason: \"say", 1),
		"reason over lines":   strings.Replace(text, `"the file is generated at release"`, "|\n      the file is\n      generated   at release\n", 1),
		"with an empty list":  strings.Replace(text, "version: 1", "# nothing\nversion: 1 # known", 1),
		"end of the document": text + "...\n",
	} {
		b, err := lint.ParseBaseline("b.yaml", []byte(form))
		if err != nil || string(b.Encode()) != text {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, none := range []string{"version: 1", "version: 1\nfindings:\n", "{version: 1, findings: []}"} {
		if b := parseBaseline(t, none); len(b.Entries) != 0 {
			t.Errorf("%q gives %+v", none, b.Entries)
		}
	}
}

func TestBaselineParseRefuses(t *testing.T) {
	entry := func(key, value string) string {
		fields := map[string]string{"rule": "REF001", "path": "a/b", "digest": baselineDigest("a"), "reason": "it is so"}
		fields[key] = value
		var b strings.Builder
		b.WriteString("version: 1\nfindings:\n  - ")
		for _, k := range []string{"rule", "path", "digest", "reason", "expires", "count"} {
			if fields[k] != "" {
				fmt.Fprintf(&b, "%s: %s\n    ", k, fields[k])
			}
		}
		return b.String()
	}
	without := func(key string) string { return entry(key, "") }
	for _, tt := range []struct{ name, text, want, hint string }{
		{"empty", "", "b.yaml is empty", "--baseline b.yaml --write-baseline"},
		{"comment", "# x\n", "b.yaml is empty", ""},
		{"null", "~", "b.yaml is empty", ""},
		{"cut off", text[:len(text)/2], "b.yaml:", ""},
		{"binary", "\x00\x01", "b.yaml: invalid YAML", ""},
		{"list", "- 1", "1:1: expected a mapping with the keys", ""},
		{"newer", "version: 2", `1:10: unsupported baseline version "2"`, "newer skillpm"},
		{"no version", "findings: []", "1:1: the baseline does not have a format version", "version: 1"},
		{"version as list", "version: [1]", "1:10: unsupported baseline version", ""},
		{"merge markers", strings.Replace(text, "findings:\n", "findings:\n<<<<<<< ours\n", 1), "5:1: unresolved merge conflict: <<<<<<< ours", "keep the entries"},
		{"marker in the middle", text + ">>>>>>> theirs\n", "19:1: unresolved merge conflict", ""},
		{"two documents", text + "---\na: b\n", "unexpected second YAML document", "remove the line ---"},
		{"unknown key", "version: 1\nfinding: []", `2:1: unknown key "finding" in a baseline`, "did you mean findings?"},
		{"unknown key of an entry", strings.Replace(entry("count", "1"), "count", "colour", 1), `unknown key "colour" in an entry`, "use one of rule, path"},
		{"misspelt key", strings.Replace(entry("expires", "2027-01-31"), "expires", "expire", 1), `unknown key "expire" in an entry`, "did you mean expires?"},
		{"key twice", "version: 1\nversion: 1", `2:1: the key "version" is duplicated; it first appears on line 1`, ""},
		{"key of an entry twice", entry("count", "1\n    count: 2"), `the key "count" is duplicated; it first appears on line 7`, ""},
		{"key that is a list", "version: 1\n[a]: b", "2:1: a key must be one word", ""},
		{"anchor", entry("reason", "&a x"), "6:13: the YAML anchor &a is not allowed", "write the value itself in quotes"},
		{"alias", "version: 1\nfindings: [*a]", "unknown anchor", ""},
		{"alias of itself", "version: &a 1\nfindings: *a", "the YAML anchor &a is not allowed", ""},
		{"tag", entry("reason", "!!str x"), "6:13: the YAML tag !!str is not allowed", "in quotes"},
		{"findings as mapping", "version: 1\nfindings: {a: b}", "2:11: findings must be a list", "hyphen"},
		{"entry as text", "version: 1\nfindings: [a]", "2:12: an entry must be a mapping with the keys rule, path, digest, reason", ""},
		{"no rule", "version: 1\nfindings: [{}]", `2:12: the key "rule" is missing in an entry`, ""},
		{"no path", without("path"), `3:5: the key "path" is missing in an entry`, ""},
		{"no digest", without("digest"), `3:5: the key "digest" is missing in an entry`, ""},
		{"no reason", without("reason"), `3:5: the key "reason" is missing in an entry`, "add a reason for accepting the finding"},
		{"empty reason", entry("reason", `" "`), "6:13: an entry does not have a reason", "add a reason for accepting the finding"},
		{"reason without value", entry("reason", "~"), "6:13: reason is ~, which YAML reads as null", "quotes"},
		{"reason as list", entry("reason", "[a]"), "6:13: reason must be text", ""},
		{"rule", entry("rule", "ref001"), `3:11: "ref001" is not a rule id`, ""},
		{"rule with blank", entry("rule", `"REF001 "`), `is not a rule id such as REF001`, ""},
		{"path", entry("path", "../a"), `4:11: "../a" is not a relative path`, ""},
		{"absolute path", entry("path", "/a"), `"/a" is not a relative path`, ""},
		{"path with dot", entry("path", "./a"), `"./a" is not a relative path`, ""},
		{"digest", entry("digest", "sha256:abc"), `5:13: "sha256:abc" is not a digest`, ""},
		{"digest of another kind", entry("digest", "sha512:"+strings.Repeat("a", 64)), "is not a digest", ""},
		{"digest in capitals", entry("digest", "sha256:"+strings.Repeat("A", 64)), "is not a digest", ""},
		{"date", entry("expires", "31.1.2027"), `7:14: "31.1.2027" is not a date such as 2027-01-31`, ""},
		{"day that is none", entry("expires", "2027-02-29"), "is not a date", ""},
		{"time", entry("expires", "2027-02-01T00:00:00Z"), "is not a date", ""},
		{"no date", entry("expires", "~"), "expires is ~, which YAML reads as null", "quotes"},
		{"count of none", entry("count", "0"), `count must be a number from 1 to 1000000, not "0"`, ""},
		{"count below", entry("count", "-1"), "must be a number", ""},
		{"count in octal", entry("count", "010"), "must be a number", ""},
		{"count as text", entry("count", "many"), "must be a number", ""},
		{"count too large", entry("count", "1000001"), "must be a number", ""},
		{"twice", strings.Replace(text, baselineDigest("b"), baselineDigest("a"), 1), "11:5: the baseline accepts REF001 in skills/deploy/SKILL.md twice with the same digest, first on line 5", "delete one of the entries, and set count in the remaining entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := lint.ParseBaseline("b.yaml", []byte(tt.text))
			if err == nil || b != nil || diag.CodeOf(err) != diag.Invalid || !strings.Contains(err.Error(), tt.want) ||
				!strings.Contains(diag.HintOf(err), tt.hint) {
				t.Errorf("got %v (%s; hint %q), want %s (%s)\n%s", err, diag.CodeOf(err), diag.HintOf(err), tt.want, tt.hint, tt.text)
			}
		})
	}
}

func TestBaselineMatcher(t *testing.T) {
	b := parseBaseline(t, text)
	generated, why, odd := b.Entries[0].BaselineFinding, b.Entries[1].BaselineFinding, b.Entries[2].BaselineFinding
	m := b.Matcher(time.Date(2027, 1, 30, 23, 59, 59, 0, time.UTC))
	for i, tt := range []struct {
		f    lint.BaselineFinding
		want bool
	}{
		{generated, true},
		{baselineFinding("REF002", generated.Path, "a"), false},
		{baselineFinding("REF001", "skills/other/SKILL.md", "a"), false},
		{baselineFinding("REF001", generated.Path, "c"), false},
		{generated, true},
		{generated, false}, // a third
		{odd, true},
	} {
		e, got := m.Accept(tt.f)
		if got != tt.want || got && e.BaselineFinding != tt.f {
			t.Errorf("%d: %+v is accepted: %t by %+v", i, tt.f, got, e)
		}
	}
	if stale := m.Stale(); len(stale) != 1 || stale[0].BaselineFinding != why || stale[0].Line != 11 {
		t.Errorf("stale: %+v", stale)
	}
	if expired := m.Expired(); len(expired) != 0 {
		t.Errorf("expired: %+v", expired)
	}

	m = b.Matcher(time.Date(2027, 1, 31, 1, 0, 0, 0, time.FixedZone("east", 2*60*60))) // the 30th, in UTC
	if _, ok := m.Accept(generated); !ok {
		t.Error("expired before its day")
	}
	if stale := m.Stale(); len(stale) != 3 || stale[0].Count != 1 || b.Entries[0].Count != 2 {
		t.Errorf("stale: %+v", stale)
	}

	m = b.Matcher(time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC))
	if e, ok := m.Accept(generated); ok || e.BaselineFinding != generated {
		t.Errorf("on its day: %t %+v", ok, e)
	}
	if expired := m.Expired(); len(expired) != 1 || expired[0].BaselineFinding != generated {
		t.Errorf("expired: %+v", expired)
	}
}

func TestBaselineUpdate(t *testing.T) {
	b := parseBaseline(t, text)
	generated, why := b.Entries[0].BaselineFinding, b.Entries[1].BaselineFinding
	added := baselineFinding("FM001", "skills/new/SKILL.md", "f")
	next, done, err := b.Update([]lint.BaselineFinding{added, generated, added, generated, generated, why}, nil, " known\n since  May ")
	if err != nil {
		t.Fatal(err)
	}
	want := []lint.BaselineEntry{
		{generated, "the file is generated at release", "2027-01-31", 3, 5},
		{why, `say "why"`, "", 1, 11},
		{added, "known since May", "", 2, 0},
	}
	if !slices.Equal(next.Entries, want) || done != (lint.BaselineChanges{Added: 1, Kept: 2, Dropped: 1}) {
		t.Errorf("got %+v\n%+v", next.Entries, done)
	}
	if string(b.Encode()) != text {
		t.Error("Update changes what it starts from")
	}
	again, done, err := next.Update([]lint.BaselineFinding{added, generated, added, generated, generated, why}, nil, "")
	if err != nil || !bytes.Equal(again.Encode(), next.Encode()) || done != (lint.BaselineChanges{Kept: 3}) {
		t.Errorf("again: %v %+v", err, done)
	}

	only := func(path string) bool { return path == "true" }
	next, done, err = b.Update(nil, only, "")
	if err != nil || len(next.Entries) != 2 || done != (lint.BaselineChanges{Kept: 2, Dropped: 1}) {
		t.Errorf("of one file: %+v %+v %v", next, done, err)
	}
	if _, _, err := b.Update([]lint.BaselineFinding{added}, nil, " "); diag.CodeOf(err) != diag.Usage || diag.HintOf(err) == "" {
		t.Errorf("without a reason: %v", err)
	}
	for _, bad := range []lint.BaselineFinding{{}, baselineFinding("x", "a", "a"), baselineFinding("FM001", "../a", "a"), baselineFinding("FM001", "a\xff", "a"), baselineFinding("FM001", "a", "x")} {
		if _, _, err := b.Update([]lint.BaselineFinding{bad}, nil, "x"); diag.CodeOf(err) != diag.Internal {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestBaselineSum(t *testing.T) {
	same := lint.BaselineDigest([]byte("one\n  two\n"))
	if !strings.HasPrefix(same, "sha256:") || len(same) != 71 {
		t.Error(same)
	}
	for _, text := range []string{"one\r\ntwo\r\n", "  one\ntwo", "one \n\ttwo\n"} {
		if lint.BaselineDigest([]byte(text)) != same {
			t.Errorf("%q is another text", text)
		}
	}
	for _, text := range []string{"onetwo", "one two", "one\n\ntwo", "one\nTwo", ""} {
		if lint.BaselineDigest([]byte(text)) == same {
			t.Errorf("%q is the same text", text)
		}
	}
}

// TestBaselineRoundTrip checks that writing and reading a baseline keeps exactly the accepted findings.
func TestBaselineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var found []lint.BaselineFinding
		for range rapid.IntRange(0, 12).Draw(t, "findings") {
			found = append(found, lint.BaselineFinding{
				Rule:   rapid.SampledFrom([]string{"FM001", "SEC900", "PACK001"}).Draw(t, "rule"),
				Path:   rapid.SampledFrom([]string{"a", ".", "no", "null", "1", "1e3", "2026-01-02", "a b", "ü/\t\n", "-", "a: b", "a #b", "\"", "\u2028", "\x00"}).Draw(t, "path"),
				Digest: baselineDigest(rapid.SampledFrom([]string{"0", "1", "e"}).Draw(t, "digest")),
			})
		}
		reason := "r" + rapid.String().Draw(t, "reason")
		b, _, err := new(lint.Baseline).Update(found, nil, reason)
		if err != nil {
			t.Fatal(err)
		}
		back, err := lint.ParseBaseline("b", b.Encode())
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Encode())
		}
		if !bytes.Equal(back.Encode(), b.Encode()) {
			t.Fatalf("%s\nbecame\n%s", b.Encode(), back.Encode())
		}
		m := back.Matcher(time.Time{})
		for _, f := range found {
			if e, ok := m.Accept(f); !ok || e.Reason != b.Entries[0].Reason {
				t.Fatalf("%+v is not accepted: %+v", f, e)
			}
		}
		if stale := m.Stale(); len(stale) > 0 {
			t.Fatalf("stale: %+v", stale)
		}
		again, done, err := back.Update(found, nil, "other")
		if err != nil || !bytes.Equal(again.Encode(), b.Encode()) || done.Added+done.Dropped > 0 {
			t.Fatalf("%+v %v", done, err)
		}
	})
}

// FuzzBaselineParse reads any text. An accepted baseline is read as the same after writing, is valid by the schema, and
// is written as the same bytes again.
func FuzzBaselineParse(f *testing.F) {
	f.Add([]byte(text))
	f.Add([]byte(strings.ReplaceAll(text, "\n", "\r\n")))
	f.Add([]byte("version: 1\nfindings: [{rule: FM001, path: \"\\u2028\", digest: " + baselineDigest("a") + ", reason: >-\n  a\n  b\n}]\n"))
	f.Add([]byte("{\"version\": 1, \"findings\": null}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := lint.ParseBaseline("b", data)
		if err != nil {
			if diag.CodeOf(err) != diag.Invalid {
				t.Fatalf("code %s: %v", diag.CodeOf(err), err)
			}
			return
		}
		written := b.Encode()
		back, err := lint.ParseBaseline("b", written)
		if err != nil {
			t.Fatalf("%v\n%q\nbecame\n%q", err, data, written)
		}
		for _, list := range [][]lint.BaselineEntry{b.Entries, back.Entries} {
			for i := range list {
				list[i].Line = 0
			}
		}
		if !slices.Equal(back.Entries, b.Entries) || !bytes.Equal(back.Encode(), written) {
			t.Fatalf("%q\nbecame\n%q\nand then\n%q", data, written, back.Encode())
		}
		if err := checkBaselineSchema(t, written); err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
	})
}

// checkBaselineSchema validates a YAML text against the schema, like an editor, to which days are strings.
func checkBaselineSchema(t testing.TB, text []byte) error {
	t.Helper()
	raw, err := schema.Read("baseline")
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.CompileString(schema.Base+"baseline.schema.json", string(raw))
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	baselineDays(&doc)
	var value any
	if err := doc.Decode(&value); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func baselineDays(n *yaml.Node) {
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		baselineDays(c)
	}
}

// TestBaselineSchema checks that the schema accepts what the parser accepts, and that both accept its examples.
func TestBaselineSchema(t *testing.T) {
	raw, err := schema.Read("baseline")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Examples []any
		Defs     struct {
			Entry struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Examples) == 0 || len(s.Defs.Entry.Properties) != 6 {
		t.Errorf("%d examples, %d keys", len(s.Examples), len(s.Defs.Entry.Properties))
	}
	texts := []string{text, "version: 1", "version: 1\nfindings:", `version: "1"`}
	for _, example := range s.Examples {
		asJSON, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(asJSON))
	}
	for _, path := range []string{"a", ".", "..a", ".a", "a/.b/c.d", "...", "a b", "ü"} {
		texts = append(texts, strings.ReplaceAll(text, "skills/deploy/SKILL.md", path))
	}
	for _, text := range texts {
		_, err := lint.ParseBaseline("b", []byte(text))
		if schemaErr := checkBaselineSchema(t, []byte(text)); err != nil || schemaErr != nil {
			t.Errorf("parser: %v; schema: %v, for\n%s", err, schemaErr, text)
		}
	}
	replace := func(old, new string) string { return strings.Replace(text, old, new, 1) }
	refused := []string{
		"findings: []", "version: 2", "version: 1\nfinding: []", "version: 1\nfindings: {}", "version: 1\nfindings: [a]", "version: 1\nfindings: [{}]",
		replace("REF001", "ref001"), replace("sha256:a", "sha256:A"), replace("count: 2", "count: 0"), replace("count: 2", "count: 1000001"),
		replace("count: 2", "count: many"), replace("2027-01-31", "soon"), replace("    count: 2", "    amount: 2"),
		replace(`"the file is generated at release"`, `" "`), replace(`"the file is generated at release"`, "[]"),
		replace(`    reason: "the file is generated at release"`+"\n", ""),
	}
	for _, path := range []string{"/a", "../a", "a/../b", "a/.", "./a", "a//b", "a/", `""`, ".."} {
		refused = append(refused, replace("skills/deploy/SKILL.md", path))
	}
	for _, text := range refused {
		_, err := lint.ParseBaseline("b", []byte(text))
		if schemaErr := checkBaselineSchema(t, []byte(text)); err == nil || schemaErr == nil {
			t.Errorf("parser: %v; schema: %v, for\n%s", err, schemaErr, text)
		}
	}
}

func largeBaseline() *lint.Baseline {
	b := &lint.Baseline{}
	for i := range 2000 {
		b.Entries = append(b.Entries, lint.BaselineEntry{
			BaselineFinding: lint.BaselineFinding{Rule: "REF001", Path: fmt.Sprintf("skills/s%d/SKILL.md", i), Digest: lint.BaselineDigest([]byte{byte(i)})},
			Reason:          "known when the baseline was written", Count: 1,
		})
	}
	return b
}

func BenchmarkBaselineParse(b *testing.B) {
	data := largeBaseline().Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := lint.ParseBaseline("b", data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBaselineEncode(b *testing.B) {
	l := largeBaseline()
	for b.Loop() {
		l.Encode()
	}
}
