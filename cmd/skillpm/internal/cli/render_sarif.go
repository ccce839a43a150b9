package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/lint/rule"
)

// The types below are the part of SARIF 2.1.0 (OASIS) that a report needs.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
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
	Help    sarifText    `json:"help"`
	Default sarifDefault `json:"defaultConfiguration"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifDefault struct {
	Level string `json:"level"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   map[string]string `json:"properties,omitempty"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
	EndLine     int `json:"endLine,omitempty"`
	EndColumn   int `json:"endColumn,omitempty"`
}

func renderSARIF(w io.Writer, r lint.Report, version string) error {
	rules := rule.All()
	index := make(map[string]int, len(rules))
	driver := sarifDriver{Name: "skillpm", Version: version, URI: "https://github.com/skillpm/skillpm"}
	for i, rule := range rules {
		index[rule.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{
			ID: rule.ID, Short: sarifText{rule.Title}, Full: sarifText{rule.Why}, Help: sarifText{rule.Fix},
			Default: sarifDefault{sarifLevel(rule.Severity)},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	seen := map[string]int{}
	for _, f := range r.Findings {
		run.Results = append(run.Results, newSARIFResult(r, f, index[f.Rule], seen))
	}
	return writeJSON(w, sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func newSARIFResult(r lint.Report, f diag.Finding, index int, seen map[string]int) sarifResult {
	message := f.Message
	if f.Fix != "" {
		message += ": " + f.Fix
	}
	at := sarifPhysical{Artifact: sarifArtifact{fileURI(f.Path)}}
	if f.Line > 0 {
		at.Region = &sarifRegion{StartLine: f.Line, StartColumn: f.Column, EndLine: f.EndLine, EndColumn: f.EndColumn}
	}
	out := sarifResult{
		RuleID: f.Rule, RuleIndex: index, Level: sarifLevel(f.Severity), Message: sarifText{message},
		Locations:    []sarifLocation{{at}},
		Fingerprints: map[string]string{"skillpm/v1": fingerprint(r, f, seen)},
	}
	if f.Profile != "" {
		out.Properties = map[string]string{"profile": f.Profile}
	}
	return out
}

// fingerprint names a finding by its rule, file and line's text, so that it is the same when other lines move it.
func fingerprint(r lint.Report, f diag.Finding, seen map[string]int) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, f.Path, f.Profile, strings.TrimSpace(r.Line(f)), f.Message}, "\x00")))
	id := hex.EncodeToString(sum[:16])
	seen[id]++
	return id + ":" + strconv.Itoa(seen[id])
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

// fileURI writes a path as a URI: relative ones as they are, absolute ones with a scheme.
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
