package catalog

import (
	"reflect"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

// TestRecordRequirements checks that records have the requirements that the catalog checks, and survive the index.
func TestRecordRequirements(t *testing.T) {
	for front, want := range map[string]*skill.Requirements{
		"metadata: {mcp-server: tracker}":                      nil,
		"metadata:\n  mcp-server: tracker":                     nil,
		"metadata: {openclaw: {requires: {config: [a.b]}}}":    nil,
		"metadata: {openclaw: {os: [macos], install: [x]}}":    {OS: []string{"darwin"}},
		"metadata:\n  clawdbot:\n    requires: {bins: [jq]}":   {Bins: []string{"jq"}},
		"metadata: {clawdbot: {requires: {anyBins: [a, b]}}}":  {AnyBins: []string{"a", "b"}},
		"metadata: {openclaw: {requires: {env: [TOKEN, 9]}}} ": {Env: []string{"TOKEN"}},
	} {
		r := newRecord([]byte("---\nname: a\ndescription: A.\n" + front + "\n---\ntext\n"))
		if !reflect.DeepEqual(r.requires, want) {
			t.Errorf("%s: %+v", front, r.requires)
		}
		decoded := decode(encode(&tree{dirs: []branch{{nodes: []node{{name: "a", record: r}}}}}))
		if got := decoded.dirs[0].nodes[0].record.requires; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v in the index", front, got)
		}
	}
}
