package profile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/schema"
)

// TestAll checks that every profile is valid, has its file's name, and has a schema.
func TestAll(t *testing.T) {
	all, err := profile.All()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"agentskills", "api-upload", "claude-code", "dispatch", "kodelet", "omniforge", "pegasus", "toolset"}
	var ids []string
	for _, p := range all {
		ids = append(ids, p.ID)
		if _, err := schema.Read(p.Schema); err != nil {
			t.Errorf("%s: %v", p.ID, err)
		}
		if p.Title == "" {
			t.Errorf("%s has no title", p.ID)
		}
		again, err := profile.Lookup(p.ID)
		if err != nil || again.ID != p.ID {
			t.Errorf("Lookup(%q) = %v, %v", p.ID, again, err)
		}
	}
	if !slices.Equal(ids, want) || !slices.Equal(profile.IDs(), want) {
		t.Errorf("got %q and %q, want %q", ids, profile.IDs(), want)
	}
}

// TestHosts checks that presets do not count as agents.
func TestHosts(t *testing.T) {
	hosts, err := profile.Agents()
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range hosts {
		ids = append(ids, p.ID)
	}
	if want := slices.DeleteFunc(profile.IDs(), func(id string) bool { return id == "api-upload" }); !slices.Equal(ids, want) {
		t.Errorf("got %q, want %q", ids, want)
	}
}

func TestSelect(t *testing.T) {
	for _, tt := range []struct {
		ids  []string
		want string
	}{
		{nil, "agentskills"},
		{[]string{"kodelet", "kodelet", "pegasus"}, "kodelet pegasus"},
		{[]string{"pegasus", "all", "api-upload"}, "pegasus agentskills claude-code dispatch kodelet omniforge toolset api-upload"},
	} {
		got, err := profile.Select(tt.ids)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, p := range got {
			ids = append(ids, p.ID)
		}
		if strings.Join(ids, " ") != tt.want {
			t.Errorf("Select(%q) = %q, want %q", tt.ids, ids, tt.want)
		}
	}
	if _, err := profile.Select([]string{"all", "none"}); diag.CodeOf(err) != diag.Usage {
		t.Errorf("got %v", err)
	}
}

func TestLookupUnknown(t *testing.T) {
	tests := []struct{ id, hint string }{
		{"Claude-Code", "did you mean claude-code?"},
		{"klaude-code", "did you mean claude-code?"},
		{"claude_code", "did you mean claude-code?"},
		{"agentskils", "did you mean agentskills?"},
		{"nothing", "use " + textx.OneOf(profile.IDs())},
		{"", "use " + textx.OneOf(profile.IDs())},
	}
	for _, tt := range tests {
		_, err := profile.Lookup(tt.id)
		if diag.CodeOf(err) != diag.Usage || diag.HintOf(err) != tt.hint {
			t.Errorf("%q: got %v, hint %q, want %q", tt.id, err, diag.HintOf(err), tt.hint)
		}
	}
}

// TestDowngradesAreListed checks S3: the list of downgrades is short and each has a reason.
func TestDowngradesAreListed(t *testing.T) {
	all, err := profile.All()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range all {
		for _, d := range p.Downgrades {
			if d.Reason == "" || d.Rule == "" || d.Severity == diag.SeverityError {
				t.Errorf("%s: %+v", p.ID, d)
			}
			if d.Rule != "FM011" && d.Rule != "FM016" {
				got = append(got, p.ID+" "+d.At+" "+strings.Join(d.Values, "|"))
			}
		}
	}
	want := []string{
		"agentskills /allowed-tools list", "agentskills /metadata/* number|boolean|date|null|list|mapping",
		"api-upload /metadata/* number|boolean|date|null|list|mapping", "api-upload /allowed-tools list",
		"claude-code /argument-hint list",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDowngraded(t *testing.T) {
	p, err := profile.Lookup("agentskills")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		at, keyword, value, want string
	}{
		{"/metadata/version", "type", "number", "FM020"},
		{"/metadata/version", "type", "mapping", "FM020"},
		{"/metadata/a/b", "type", "number", ""},
		{"/allowed-tools", "type", "list", "FM019"},
		{"/allowed-tools", "type", "mapping", ""},
		{"", "additionalProperties", "mapping", "FM011"},
		{"/files/0", "additionalProperties", "mapping", "FM011"},
		{"/license", "type", "null", "FM016"},
		{"/license", "type", "number", ""},
	}
	for _, tt := range tests {
		got := ""
		if d := p.Downgraded(tt.at, tt.keyword, tt.value); d != nil {
			got = d.Rule
		}
		if got != tt.want {
			t.Errorf("Downgraded(%q, %q, %q) = %q, want %q", tt.at, tt.keyword, tt.value, got, tt.want)
		}
	}
}
