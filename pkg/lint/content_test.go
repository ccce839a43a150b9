package lint_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillpm/skillpm/pkg/lint"
)

// TestContent checks O22: files that follow a picture, and programs that a document starts, are errors; scripts in
// pictures and documents are warnings.
func TestContent(t *testing.T) {
	var b bytes.Buffer
	picture := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	for i, x := 0, uint32(7); i < len(picture.Pix); i++ {
		x = x*1664525 + 1013904223
		picture.Pix[i] = byte(x >> 24)
	}
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	if b.Len() < 100<<10 {
		t.Fatalf("the picture has %d bytes: it should not be read at once", b.Len())
	}
	large := b.String()
	for _, tt := range []struct{ name, file, text, want string }{
		{"a picture", "plan.png", large, ""},
		{"a picture and an archive", "plan.png", large + "PK\x03\x04" + strings.Repeat("\x00", 40), "SEC130 error a file follows the end of the picture: zip archive"},
		{"a picture and a script", "plan.gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00;#!/bin/sh\necho one; echo two; echo three\n", "SEC130 error a file follows the end of the picture: text"},
		{"a document", "plan.pdf", "%PDF-1.4\n1 0 obj <<>> endobj\n", ""},
		{"a document with a script", "plan.pdf", "%PDF-1.4\n1 0 obj <</S /JavaScript>> endobj\n", "SEC341 warning plan.pdf has JavaScript"},
		{"a document with a program", "plan.pdf", "%PDF-1.4\n" + strings.Repeat("%\n", 50_000) + "1 0 obj <</S/Launch>> endobj\n", "SEC341 error plan.pdf starts a program"},
		{"a script in a picture", "plan.svg", "<svg><script>go()</script></svg>\n", "SEC341 warning picture or document with code: a script"},
		{"a script in a page", "plan.html", "<svg><script>go()</script></svg>\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{
				"deploy/SKILL.md":   {Data: []byte(head + "See " + tt.file + ".\n")},
				"deploy/" + tt.file: {Data: []byte(tt.text)},
			}
			got, _ := runWith(t, files, lint.Settings{})
			var found []string
			for _, f := range got {
				if strings.Contains(f, " SEC") {
					found = append(found, f[strings.Index(f, "SEC"):])
				}
			}
			if all := strings.Join(found, "\n"); all != tt.want {
				t.Errorf("got %q, want %q", all, tt.want)
			}
		})
	}
}

// TestPossibleSecretIsNotShown checks that stars replace each value on a line, though a warning is reported once.
func TestPossibleSecretIsNotShown(t *testing.T) {
	one, two := "vQ7m"+"X2kTz9wL", "tR4n"+"q82LmZx"
	files := "-- deploy/SKILL.md\n" + head + "user_pass" + "word: \"" + one + "\", admin_pass" + "word: \"" + two + "\"\n"
	_, report := runWith(t, tree(files), enabled("SEC340"))
	found := 0
	for _, f := range report.Findings {
		line := report.Line(f)
		if strings.Contains(line+f.Message, one) || strings.Contains(line+f.Message, two) {
			t.Errorf("%s shows a secret: %s", f.Rule, line)
		}
		if f.Rule == "SEC340" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d findings", found)
	}
}
