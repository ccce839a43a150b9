package catalog

import (
	"strings"
	"testing"
)

// TestExecution checks how the confinement of a skill's scripts is read (O13): a field with an unknown value leaves the
// skill out, because it would otherwise run with more rights than its author intended.
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
		{"{Sandbox: true}", "instead of sandbox"},
		{"\n  sandox: true", "instead of sandbox"},
		{"{allowed_paths: [./b]}", "instead of allowed-paths"},
		{"{sandbox: [true]}", "execution.sandbox is neither true nor false"},
		{"{sandbox: {type: x}}", "execution.sandbox is neither true nor false"},
		{"{network: {hosts: [a.com]}}", "is not a list"},
		{"{network: [{a: 443}]}", "not text"},
		{"{network: 443}", "not text"},
		{"{allowed-paths: 7}", "not text"},
		{"{allowed-paths: [~]}", "not text"},
		{"{allowed-paths: true}", "not text"},
	} {
		r := newRecord([]byte("---\nname: a\ndescription: A.\nexecution: " + test.text + "\n---\ntext\n"))
		if (r.fatal != "") != (test.fatal != "") || !strings.Contains(r.fatal, test.fatal) || test.fatal != "" && r.line < 4 {
			t.Errorf("%s: %q in line %d, want %q", test.text, r.fatal, r.line, test.fatal)
		}
	}
}
