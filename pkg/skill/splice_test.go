package skill_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

func TestSpliceName(t *testing.T) {
	tests := []struct{ name, in, to, want string }{
		{"plain", "---\nname: deploy # why\ndescription: x\n---\nbody name: deploy\n", "acme-deploy", "---\nname: acme-deploy # why\ndescription: x\n---\nbody name: deploy\n"},
		{"single quotes", "---\nname: 'de''ploy'\n---\n", "a", "---\nname: 'a'\n---\n"},
		{"double quotes", "---\nname: \"de\\\"ploy\"   # c\n---\n", "a", "---\nname: \"a\"   # c\n---\n"},
		{"crlf", "---\r\nname: deploy\r\ndescription: x\r\n---\r\nb\r\n", "a", "---\r\nname: a\r\ndescription: x\r\n---\r\nb\r\n"},
		{"byte order mark", "\ufeff---\nname: deploy\n---\n", "a", "\ufeff---\nname: a\n---\n"},
		{"after wide characters", "---\n日本: {é: 1}\nname: deploy\n---\n", "a", "---\n日本: {é: 1}\nname: a\n---\n"},
		{"missing", "---\ndescription: x\n---\nb\n", "a", "---\nname: a\ndescription: x\n---\nb\n"},
		{"missing, crlf", "---\r\ndescription: x\r\n---\r\nb\r\n", "a", "---\r\nname: a\r\ndescription: x\r\n---\r\nb\r\n"},
		{"no frontmatter", "# Title\n", "a", "---\nname: a\n---\n# Title\n"},
		{"empty frontmatter", "---\n---\nx", "a", "---\nname: a\n---\nx"},
		{"empty value", "---\nname:\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"null", "---\nname: ~\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"folded", "---\nname: >-\n  deploy\n  now\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"two lines", "---\nname: deploy\n  now\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"tag", "---\nname: !!str deploy\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"anchor", "---\nname: &n deploy\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"flow", "---\n{name: deploy, description: x}\n---\n", "a", "---\n{name: a, description: x}\n---\n"},
		{"flow without a name", "---\n{description: x}\n---\n", "a", "---\n{name: a, description: x}\n---\n"},
		{"a number", "---\nname: deploy\n---\n", "123", "---\nname: \"123\"\n---\n"},
		{"a boolean", "---\nname: deploy\n---\n", "true", "---\nname: \"true\"\n---\n"},
		{"key in quotes", "---\n\"name\": deploy\n---\n", "a", "---\n\"name\": a\n---\n"},
		{"another field is broken", "---\ndescription: a: b\nname: deploy\n---\n", "a", "---\ndescription: a: b\nname: a\n---\n"},
		{"the name is broken", "---\nname: a: b\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"a list", "---\nname: [a, b]\ndescription: x\n---\n", "a", "---\nname: a\ndescription: x\n---\n"},
		{"not closed", "---\nname: deploy\n\n# Title\n", "a", "---\nname: a\n\n# Title\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := skill.SpliceName([]byte(tt.in), tt.to)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestSpliceNameRefuses(t *testing.T) {
	_, err := skill.SpliceName([]byte("---\n- a\n- b\n---\n"), "a")
	if err == nil || !strings.Contains(err.Error(), "not a mapping of fields") {
		t.Errorf("got %v", err)
	}
}
