package catalog

import (
	"strings"
	"testing"
)

// TestExecution is what is read of how a skill's scripts are confined (O13): a field that is not understood leaves the
// skill out, as it would run with more than its author meant.
func TestExecution(t *testing.T) {
	for _, test := range []struct{ text, fatal string }{
		{"", ""},
		{"~", ""},
		{"{}", ""},
		{"{sandbox: true}", ""},
		{"{sandbox: yes, network: false}", ""},
		{"{network: [a.example:443, '*.b.example'], allowed-paths: [./build]}", ""},
		{"{network: []}", ""},
		{"{allowed-paths: []}", ""},
		{"{network: restricted, timeout: 30}", ""},
		{"\n  sandbox: true\n  network:\n    - a.example", ""},
		{"true", "execution is not a mapping"},
		{"sandbox", "execution is not a mapping"},
		{"[sandbox]", "execution is not a mapping"},
		{"\n  - sandbox", "execution is not a mapping"},
		{"{Sandbox: true}", "it is called sandbox"},
		{"\n  sandox: true", "it is called sandbox"},
		{"{allowed_paths: [./b]}", "it is called allowed-paths"},
		{"{sandbox: [true]}", "neither true nor false"},
		{"{sandbox: {type: x}}", "neither true nor false"},
		{"{network: {hosts: [a.com]}}", "is not a list"},
		{"{network: [{a: 443}]}", "is no text"},
		{"{network: 443}", "is no text"},
		{"{allowed-paths: 7}", "is no text"},
		{"{allowed-paths: [~]}", "is no text"},
		{"{allowed-paths: true}", "is no text"},
	} {
		r := newRecord([]byte("---\nname: a\ndescription: A.\nexecution: " + test.text + "\n---\ntext\n"))
		if (r.fatal != "") != (test.fatal != "") || !strings.Contains(r.fatal, test.fatal) || test.fatal != "" && r.line < 4 {
			t.Errorf("%s: %q in line %d, want %q", test.text, r.fatal, r.line, test.fatal)
		}
	}
}
