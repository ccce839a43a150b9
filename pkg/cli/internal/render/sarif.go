package render

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/diag/rule"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/lint"
)

// The types below are the part of SARIF 2.1.0 (OASIS) that a report needs. They omit automationDetails, because an
// uploader's category counts only if the log has none.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool                `json:"tool"`
	Invocations []sarifInvocation        `json:"invocations"`
	Bases       map[string]sarifArtifact `json:"originalUriBaseIds,omitempty"`
	ColumnKind  string                   `json:"columnKind"`
	Results     []sarifResult            `json:"results"`
}

type sarifInvocation struct {
	Successful bool `json:"executionSuccessful"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	URI     string      `json:"informationUri"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string       `json:"id"`
	Short   sarifText    `json:"shortDescription"`
	Full    sarifText    `json:"fullDescription"`
	Help    sarifHelp    `json:"help"`
	HelpURI string       `json:"helpUri"`
	Default sarifDefault `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifHelp struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
}

type sarifDefault struct {
	Level   string `json:"level"`
	Enabled *bool  `json:"enabled,omitempty"` // only set if false
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifText          `json:"message"`
	Locations    []sarifLocation    `json:"locations"`
	Related      []sarifLocation    `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Fixes        []sarifFix         `json:"fixes,omitempty"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   map[string]string  `json:"properties,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification,omitempty"`
}

// sourceRoot is the base of the paths in a log.
const sourceRoot = "SRCROOT"

func renderSARIF(w io.Writer, o Outcome) error { return SARIF(w, o, rule.All()) }

// SARIF writes findings of some rules as SARIF.
func SARIF(w io.Writer, o Outcome, rules []rule.Rule) error {
	driver, index := newSARIFDriver(o.Version, rules)
	run := sarifRun{
		Invocations: []sarifInvocation{{true}}, ColumnKind: "unicodeCodePoints",
		Results: []sarifResult{},
	}
	if o.Dir != "" {
		uri := fileURI(strings.TrimSuffix(filepath.ToSlash(o.Dir), "/") + "/")
		run.Bases = map[string]sarifArtifact{sourceRoot: {URI: uri}}
	}
	for _, f := range o.Findings { // rules of a team
		if _, ok := index[f.Rule]; !ok {
			index[f.Rule] = len(driver.Rules)
			driver.Rules = append(driver.Rules, sarifRule{
				ID: f.Rule, Short: sarifText{f.Rule}, Full: sarifText{f.Message}, Default: sarifDefault{Level: sarifLevel(f.Severity)},
			})
		}
	}
	run.Tool = sarifTool{driver}
	s := sarifWriter{Outcome: o, seen: map[[sha256.Size]byte]int{}}
	log := sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	}
	return console.WriteJSONList(w, log, "results", func(yield func(any) bool) {
		for _, f := range o.Findings {
			if !yield(s.result(f, index[f.Rule])) {
				return
			}
		}
		if !o.ShowSuppressed {
			return
		}
		for _, f := range o.Suppressed {
			r := s.result(f.Finding, index[f.Rule])
			r.Suppressions = []sarifSuppression{{suppressionKind(f.By), f.Reason}}
			if !yield(r) {
				return
			}
		}
	})
}

func newSARIFDriver(version string, rules []rule.Rule) (sarifDriver, map[string]int) {
	index := make(map[string]int, len(rules))
	driver := sarifDriver{Name: "skillpm", Version: version, URI: "https://github.com/skillpm/skillpm"}
	for i, r := range rules {
		index[r.ID] = i
		out := sarifRule{
			ID: r.ID, Short: sarifText{r.Title}, Full: sarifText{r.Why}, HelpURI: RuleURI(r.ID),
			Help: sarifHelp{
				r.Why + " Fix: " + r.Fix + ".",
				r.Why + "\n\nFix: " + r.Fix + ".\n\n[Examples](" + RuleURI(r.ID) + ")",
			},
			Default: sarifDefault{Level: sarifLevel(r.Severity)},
		}
		if r.Off {
			out.Default.Enabled = new(bool)
		}
		driver.Rules = append(driver.Rules, out)
	}
	return driver, index
}

// RuleURI returns the documentation page of a rule.
func RuleURI(id string) string {
	return "https://github.com/skillpm/skillpm/blob/main/docs/reference/rules/" + id + ".md"
}

func suppressionKind(source string) string {
	if source == lint.ByComment {
		return "inSource"
	}
	return "external"
}

// sarifWriter creates the results of a log.
type sarifWriter struct {
	Outcome
	seen map[[sha256.Size]byte]int // number of uses of each fingerprint
	name string                    // of the last file with fixes
	file *fileText
}

func (s *sarifWriter) result(f diag.Finding, index int) sarifResult {
	message := f.Message
	if f.Fix != "" {
		message += ": " + f.Fix
	}
	location := sarifPhysical{Artifact: s.artifact(f.Path)}
	if f.Line > 0 {
		location.Region = &sarifRegion{
			StartLine: f.Line, StartColumn: f.Column, EndLine: f.EndLine,
			EndColumn: f.EndColumn,
		}
	}
	out := sarifResult{
		RuleID: f.Rule, RuleIndex: index, Level: sarifLevel(f.Severity), Message: sarifText{message},
		Locations:    []sarifLocation{{location}},
		Fingerprints: map[string]string{"skillpm/v1": s.fingerprint(f)},
		Fixes:        s.fixes(f),
	}
	for _, name := range f.Related {
		out.Related = append(out.Related, sarifLocation{sarifPhysical{Artifact: s.artifact(name)}})
	}
	if f.Profile != "" {
		out.Properties = map[string]string{"profile": f.Profile}
	}
	return out
}

// artifact identifies a file: relative to the source root, or by an absolute URI if it is outside.
func (s *sarifWriter) artifact(name string) sarifArtifact {
	if s.Dir == "" {
		return sarifArtifact{URI: fileURI(name)}
	}
	if !path.IsAbs(name) && pathx.Escapes(name) {
		name = path.Join(filepath.ToSlash(s.Dir), name)
	}
	if uri := fileURI(name); strings.HasPrefix(uri, "file:") {
		return sarifArtifact{URI: uri}
	}
	return sarifArtifact{URI: fileURI(name), Base: sourceRoot}
}

// fingerprint identifies a finding by its rule, file, and line text, so that it stays the same if lines move or other
// profiles are checked. Equal ones are numbered.
func (s *sarifWriter) fingerprint(f diag.Finding) string {
	text := strings.TrimSpace(s.Line(f))
	id := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Path, text, withoutNumbers(f.Message)}, "\x00")))
	s.seen[id]++
	return hex.EncodeToString(id[:16]) + ":" + strconv.Itoa(s.seen[id])
}

// withoutNumbers removes digits from a message, because they may be line numbers or counts.
func withoutNumbers(message string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, message)
}

func sarifLevel(s diag.Severity) string {
	switch s {
	case diag.SeverityError:
		return "error"
	case diag.SeverityWarning:
		return "warning"
	default:
		return "note"
	}
}

// fileURI converts a path to a URI: relative paths stay relative, absolute ones get a scheme.
func fileURI(path string) string {
	u := url.URL{Path: path}
	switch {
	case strings.HasPrefix(path, "/"):
		u.Scheme = "file"
	case len(path) > 2 && path[1:3] == ":/":
		u = url.URL{Scheme: "file", Path: "/" + path}
	}
	return u.String()
}
