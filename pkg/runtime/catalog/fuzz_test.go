package catalog

import (
	"bytes"
	"reflect"
	"testing"
	check "testing/quick"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/skill"
)

// FuzzQuick checks that readSimple agrees with package skill, and that every record fits the index.
func FuzzQuick(f *testing.F) {
	for _, text := range []string{
		"---\nname: a\ndescription: b c\n---\n", "---\nname: 'a'\ntags:\n  - x\n  - \"y\"\n---\nbody\n", "---\ntags: [a, b c]\nmetadata:\n  a: b\n---\n",
		"---\nname: a\n  b\n---\n", "---\nname: a # b\n---\n", "---\na: null\npriority: 1e3\n---\n", "---\nname: a\nname: b\n---\n", "---\n- a\n---\n",
		"---\nk:\n- a\n- b\nname: x\n\n# c\ncontext: fork\nuser-invocable: no\n---\npara\n", "---\nscope:\n---\n", "---\nscope:\n  agents: [a]\n---\n",
		"---\nname: \u00e9\n---\n", "---\nname: a\n--- \n---\n", "---\n---\n", "---\nname:\n\n  a\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		agree(t, head)
		tree := &tree{dirs: []branch{{nodes: []node{{name: "a", record: newRecord(head)}}}}}
		data := encode(tree)
		back := decode(bytes.Clone(data))
		if back == nil || !bytes.Equal(encode(back), data) {
			t.Errorf("the index does not hold %+v", tree.dirs[0].nodes[0].record)
		}
	})
}

// FuzzIndex checks that any invalid index file is rejected, and that a valid one is written as the same bytes.
func FuzzIndex(f *testing.F) {
	rec := &record{name: "a", description: "d", tags: []string{"t"}, priority: 2, flags: forks, problems: []problem{{ruleFront, diag.SeverityWarning, 3, "m", "f"}}}
	f.Add(encode(&tree{real: "/x", dirs: []branch{{nodes: []node{{name: "n", link: true, target: "/y"}, {name: "o", record: rec, stable: true, copy: &copyFacts{installed: "/p", files: "x"}}}}}}))
	f.Add(encode(&tree{real: "/x", lock: lockFacts{exists: true, packs: []lockedPack{{"a/b", "1", "local", "n/", "c", "t/", &skill.Requirements{Bins: []string{"x"}}}}, names: []lockedName{{"n", "a/b", []lockedAlias{{"c/d", "e"}}}}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < headerSize {
			return
		}
		copy(data, magic)
		for i := range 8 {
			data[len(magic)+4+i] = byte((len(data) - headerSize) >> (8 * i))
		}
		Seal(data)
		again, ok := Decodes(bytes.Clone(data))
		if !ok {
			return
		}
		if _, ok := Decodes(bytes.Clone(again)); !ok {
			t.Errorf("what was read from %x and written again cannot be read", data)
		}
	})
}

// TestIndexRoundTrip checks that decoding returns the encoded record.
func TestIndexRoundTrip(t *testing.T) {
	same := func(name, description, paragraph, when, hint, agent, fatal, message string, tags, agents []string, priority float64, line uint16, bits uint8, s, c int64, inode uint64) bool {
		r := &record{
			name: name, description: description, paragraph: paragraph, when: when, hint: hint, agent: agent, priority: priority,
			flags: flags(bits & 7), fatal: fatal,
		}
		if len(tags) > 0 {
			r.tags = tags
		}
		if len(agents) > 0 {
			r.agents = agents
		}
		if fatal != "" {
			r.line = int(line)
			r.problems = []problem{{ruleValue, diag.SeverityNote, int(line), message, ""}}
		}
		want := node{name: "x", stable: bits&8 != 0, stat: stamp{size: s & 0xffff, modified: c, changed: -c, inode: inode}, record: r}
		got := decode(encode(&tree{dirs: []branch{{nodes: []node{want}}}}))
		return got != nil && reflect.DeepEqual(got.dirs[0].nodes[0], want)
	}
	if err := check.Check(same, nil); err != nil {
		t.Error(err)
	}
}
