package skill_test

import (
	"bytes"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill"
)

var seeds = []string{
	"", "---", "---\n---", "---\nname: a\n---\nbody", "---\r\nname: a\r\n---\r\n", "\ufeff---\nname: 'a'\n---\n",
	"---\nname: a: b\ndescription: \"x\n---\n", "---\nname: &x [*x]\n---\n", "---\n{name: a, b: [1, 2]}\n---\n", "x\n---\nname: a\n---\n",
	"---\nname: >-\n  a\n  b\n# c\n---\n", "---\nname: !!str a\n---\n", "---\n? name\n: a\n---\n", "---\nname: a\nname: b\n\tc: d\n---\n",
	"---\n- a\n---\n", "---\n\"na\\\nme\": a\n---\n", "---\nname:\n---\n", "---\nname: \"a\" # b\n...\n---\n", "---\n<<: {name: a}\n---\n", "---\n\r0", "---\na: \u2028b\n---\n",
}

// FuzzParse checks for any bytes that parsing ends, that the parts of the document lie inside the file, and that every
// problem has a position.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, problems := skill.Parse(data)
		if doc.FrontStart > doc.FrontEnd || doc.FrontEnd > doc.BodyStart && doc.FrontLine > 0 || doc.BodyStart > len(data) {
			t.Fatalf("front %d:%d, body %d of %d", doc.FrontStart, doc.FrontEnd, doc.BodyStart, len(data))
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Line > lines || p.Message == "" {
				t.Fatalf("%+v in a file of %d lines", p, lines)
			}
		}
		_ = doc.Files()
		_ = skill.FirstParagraph(doc.Body())
	})
}

// FuzzSpliceName checks that a spliced name is read back, that the rest of the file stays, and that splicing again
// changes nothing.
func FuzzSpliceName(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s), "deploy")
		f.Add([]byte(s), "null")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		if !skill.LegalName(name) {
			t.Skip()
		}
		out, err := skill.SpliceName(data, name)
		if err != nil {
			return
		}
		before, _ := skill.Parse(data)
		after, _ := skill.Parse(out)
		if after.Name() != name {
			t.Fatalf("%q has the name %q, want %q", out, after.Name(), name)
		}
		if !bytes.Equal(before.Body(), after.Body()) {
			t.Fatalf("the body of %q changed: %q", data, out)
		}
		if again, err := skill.SpliceName(out, name); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("splicing %q again: %q, %v", out, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte("---\nname: pdf-processing\ndescription: Extracts text and tables from PDF files, fills in forms. Use it when a task names a PDF document.\n" +
		"license: Apache-2.0\nmetadata:\n  author: example-org\n  version: \"1.0\"\nallowed-tools: Read Grep\n---\n" + string(bytes.Repeat([]byte("Some words of advice.\n"), 180)))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if doc, _ := skill.Parse(data); doc.Name() != "pdf-processing" {
			b.Fatal("not parsed")
		}
	}
}

// FuzzRepair checks that a repair ends, keeps the body, and leaves no error on its line.
func FuzzRepair(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Add([]byte("---\nname: a\ndescription: > x: y\n  z: *b\n---\nbody"))
	f.Add([]byte("---\nt:\n* a\n* b\ndescription: 'it's \"a\" b\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, problems := skill.Parse(data)
		for _, p := range problems[:min(len(problems), 3)] {
			fixed, ok := doc.Repair(p.Line)
			if !ok {
				continue
			}
			after, left := skill.Parse(fixed)
			if !bytes.Equal(after.Body(), doc.Body()) || len(left) >= len(problems) {
				t.Fatalf("line %d: %q became %q: %+v", p.Line, data, fixed, left)
			}
		}
	})
}
