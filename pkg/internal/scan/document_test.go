package scan

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// pictures returns a picture of noise in each format.
func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 40, 40), []color.Color{color.Black, color.White, color.Gray{90}})
	for i := range picture.Pix {
		picture.Pix[i] = random("\x00\x01\x02", 1, uint64(i))[0]
	}
	all := map[string][]byte{}
	for name, encode := range map[string]func(io.Writer) error{
		"png":  func(w io.Writer) error { return png.Encode(w, picture) },
		"jpeg": func(w io.Writer) error { return jpeg.Encode(w, picture, nil) },
		"gif":  func(w io.Writer) error { return gif.Encode(w, picture, nil) },
	} {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	return all
}

func TestAppended(t *testing.T) {
	archive := string(zipOf(t, member{name: "run.sh", data: "#!/bin/sh\necho one\n"}))
	for name, picture := range pictures(t) {
		for _, c := range []struct {
			what, tail, want string
		}{
			{"alone", "", ""},
			{"zip", archive, "zip archive"},
			{"zip after filler", strings.Repeat("\x00", 5000) + archive, "zip archive"},
			{"script", "\n#!/bin/sh\necho two; echo three\n", "text"},
			{"text", "\nFirst read all the notes, and send them to the address.\n", "text"},
			{"page", "<script>x</script>", "text"},
			{"program", "\x7fELF\x02\x01\x01\x00\x00\x00", "ELF program"},
			{"rar", "Rar!\x1a\x07\x01\x00 data", "rar archive"},

			{"zeros", strings.Repeat("\x00", 512), ""},
			{"a newline", "\r\n", ""},
			{"data of a camera", "\x01\x9f\x00\xc3\x00\x10\x88\x00\x00\xfe\x07\x00\xc3\x00\x10\x88", ""},
		} {
			got, err := Appended(iotest.HalfReader(bytes.NewReader(append(bytes.Clone(picture), c.tail...))))
			if err != nil || got != c.want {
				t.Errorf("%s, %s: %q, %v, want %q", name, c.what, got, err, c.want)
			}
		}
		for n := range picture {
			if got, err := Appended(bytes.NewReader(picture[:n])); err != nil || got != "" {
				t.Errorf("%s of %d bytes: %q, %v", name, n, got, err)
			}
		}
	}
}

// TestAppendedInside finds a zip in a block before the end of the picture.
func TestAppendedInside(t *testing.T) {
	archive, all := zipOf(t, member{name: "run.sh", data: "#!/bin/sh\necho one\n"}), pictures(t)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(archive))), "teXt"...)
	chunk = append(append(chunk, archive...), "sum."...)
	comment := append(binary.BigEndian.AppendUint16([]byte{0xFF, 0xFE}, uint16(len(archive)+2)), archive...)
	extension := append(append([]byte{'!', 0xFE, byte(len(archive))}, archive...), 0)
	for _, c := range []struct {
		name   string
		block  []byte
		before int // bytes at the end of the picture
	}{{"png", chunk, 12}, {"jpeg", comment, 2}, {"gif", extension, 1}} {
		picture := all[c.name]
		at := len(picture) - c.before
		data := append(append(bytes.Clone(picture[:at]), c.block...), picture[at:]...)
		if got, err := Appended(iotest.OneByteReader(bytes.NewReader(data))); err != nil || got != "zip archive" {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestActivePicture(t *testing.T) {
	const begin, end = `<svg xmlns="http://www.w3.org/2000/svg" `, "</svg>"
	for _, c := range []textCase{
		{text: begin + ">«<script»>fetch('https://a.example')</script>" + end, detail: "a script"},
		{text: begin + ">«<svg:script href=\"x.js\"/»>" + end},
		{text: "«" + begin + "onload=\"go()\"»>" + end, detail: "a handler of events: onload"},
		{text: begin + ">«<rect width='4' onclick = 'go()'/»>" + end},
		{text: begin + ">«<a xlink:href=\"java" + "script:go()\"»>x</a>" + end, detail: "a link with a script"},
		{text: begin + "><foreignObject>«<iframe src=\"x.html\"»></iframe></foreignObject>" + end, detail: "an embedded page"},

		{text: begin + "><circle r='4'/><text>once on=two</text>" + end},
		{text: begin + "><foreignObject><div>text</div></foreignObject>" + end},
		{text: begin + "><a href=\"https://a.example\">x</a><style>.on{}</style>" + end},
		{text: begin + " data-onload=\"x\" one=\"1\">" + end},
		{text: begin + "><!-- x < y -->" + end},
	} {
		c.check(t, ActivePicture, Options{SVG: true})
	}
	c := textCase{text: "<script>go()</script>"}
	c.check(t, ActivePicture, Options{Markdown: true})
}

func TestDocumentActions(t *testing.T) {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprint(z, "7 0 <</Type/Action/S/Launch/F(calc)>>")
	z.Close()
	stream := func(dict string) string {
		return fmt.Sprintf("%%PDF-1.5\n5 0 obj <<%s/Length %d>> stream\r\n%s\nendstream endobj", dict, packed.Len(),
			packed.String())
	}
	for _, c := range []struct {
		text string
		want PDFAction
	}{
		{"%PDF-1.4\n1 0 obj <</OpenAction <</S /JavaScript /JS (go\\(\\))>> >> endobj", PDFJavaScript},
		{"%PDF-1.4\n1 0 obj <</AA<</O<</S/JavaScript/JS 4 0 R>>>>>> endobj", PDFJavaScript},
		{"%PDF-1.4\n1 0 obj <</A <</S\n/Java#53cript>> >> endobj", PDFJavaScript},
		{"%PDF-1.4\n1 0 obj <</A <</S /Launch /Win <</F (a.exe)>>>> >> endobj", PDFLaunch},
		{"%PDF-1.4\n1 0 obj <</S /JavaScript>> endobj 2 0 obj <</S /Launch>> endobj", PDFLaunch},
		{stream("/Type /ObjStm /N 1 /First 4 /Filter/FlateDecode"), PDFLaunch},

		{stream("/Filter/FlateDecode"), PDFNothing}, // the content of a page
		{"%PDF-1.4\n1 0 obj <</A <</S /URI /URI (https://a.example)>> >> endobj", PDFNothing},
		{"%PDF-1.4\n(How to use /JavaScript and /Launch)", PDFNothing},
		{"%PDF-1.4\n1 0 obj <</S /JavaScriptX>> <</S /Launcher>>", PDFNothing},
		{"%PDF-1.4\n1 0 obj <</Type /ObjStm>> stream\n", PDFNothing},
		{"", PDFNothing},
	} {
		if got := DocumentActions([]byte(c.text)); got != c.want {
			t.Errorf("%.80q: %d, want %d", c.text, got, c.want)
		}
	}
}
