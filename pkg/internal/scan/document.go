package scan

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
)

// activePicture finds what a viewer of a picture in the SVG format runs: scripts, handlers of events, and links with a
// script. An embedded page is reported if the picture does not only use it for text.
func (t *text) activePicture() {
	small := toLowerASCII(t.data)
	for i := 0; ; {
		k := bytes.IndexByte(small[i:], '<')
		if k < 0 {
			return
		}
		start := i + k
		i = start + 1
		if start < len(small)-1 && !is(small[i], isLetter) {
			continue
		}
		end := bytes.IndexByte(small[i:], '>')
		if end < 0 {
			return
		}
		end += i
		name := small[i:end]
		if k := bytes.IndexAny(name, " \t\r\n/"); k >= 0 {
			name = name[:k]
		}
		name = name[bytes.IndexByte(name, ':')+1:]
		i = end
		switch string(name) {
		case "script":
			t.hit(ActivePicture, start, end, "a script")
		case "iframe", "object", "embed":
			t.hit(ActivePicture, start, end, "an embedded page")
		default:
			if about := activeAttribute(small[start:end]); about != "" {
				t.hit(ActivePicture, start, end, about)
			}
		}
	}
}

// activeAttribute returns what an attribute of a tag runs.
func activeAttribute(tag []byte) string {
	for i := 1; i < len(tag); i++ {
		if !is(tag[i-1], isBlank) && tag[i-1] != '"' && tag[i-1] != '\'' {
			continue
		}
		rest := tag[i:]
		if bytes.HasPrefix(rest, []byte("on")) && len(rest) > 4 {
			name := 2
			for name < len(rest) && is(rest[name], isLetter) {
				name++
			}
			if after := bytes.TrimLeft(rest[name:], " \t\r\n"); name > 4 && len(after) > 1 && after[0] == '=' {
				return "a handler of events: " + string(rest[:name])
			}
		}
		const longest = 16 // bytes of xlink:href and blanks after it
		k := bytes.IndexByte(rest[:min(len(rest), longest)], '=')
		if k > 0 && bytes.HasSuffix(bytes.TrimSpace(rest[:k]), []byte("href")) {
			if hasFold(bytes.TrimLeft(rest[k+1:], "\"' \t\r\n"), "javascript:") {
				return "a link with a script"
			}
		}
	}
	return ""
}

// Limits for documents.
const (
	maxObjects = 16 << 20 // unpacked bytes of the object streams of a document
	maxObject  = 1 << 20  // of one
)

// PDFAction is what a document in the PDF format runs when it is opened or used.
type PDFAction int

// The actions.
const (
	PDFNothing    PDFAction = iota
	PDFJavaScript           // a script (ISO 32000-1, 12.6.4.16)
	PDFLaunch               // a program (12.6.4.5)
)

// DocumentActions returns the riskiest action of a document in the PDF format. It reads its objects, and those in
// compressed object streams, but not those that are encrypted.
func DocumentActions(data []byte) PDFAction {
	action := pdfAction(data)
	budget := maxObjects
	for i := 0; action != PDFLaunch && budget > 0; {
		k := bytes.Index(data[i:], []byte("stream"))
		if k < 0 {
			break
		}
		start := i + k
		i = start + len("stream")
		head := data[max(0, start-300):start]
		if k := bytes.LastIndex(head, []byte(" obj")); k >= 0 {
			head = head[k:]
		}
		if bytes.HasSuffix(head, []byte("end")) || !bytes.Contains(head, []byte("/ObjStm")) {
			continue
		}
		body := bytes.TrimLeft(data[i:min(len(data), i+4)], "\r\n")
		r, err := zlib.NewReader(bytes.NewReader(data[i+min(4, len(data)-i)-len(body):]))
		if err != nil {
			continue
		}
		objects, _ := io.ReadAll(io.LimitReader(r, int64(min(budget, maxObject))))
		budget -= max(len(objects), 1<<10)
		action = max(action, pdfAction(objects))
	}
	return action
}

// pdfAction finds the types of actions among objects.
func pdfAction(data []byte) PDFAction {
	if bytes.Contains(data, []byte("#")) {
		data = plainNames(data)
	}
	action := PDFNothing
	for i := 0; ; {
		k := bytes.Index(data[i:], []byte("/S"))
		if k < 0 {
			return action
		}
		i += k + 2
		switch name := bytes.TrimLeft(data[i:min(len(data), i+32)], " \t\r\n"); {
		case isName(name, "/Launch"):
			return PDFLaunch
		case isName(name, "/JavaScript"):
			action = PDFJavaScript
		}
	}
}

func isName(b []byte, name string) bool {
	return bytes.HasPrefix(b, []byte(name)) && (len(b) == len(name) || !is(b[len(name)], isWordy))
}

// plainNames returns a copy with the characters that #XX stands for in names.
func plainNames(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] == '#' && i+2 < len(data) && is(data[i+1], isHex) && is(data[i+2], isHex) {
			out = append(out, hexValue(data[i+1])<<4|hexValue(data[i+2]))
			i += 2
			continue
		}
		out = append(out, data[i])
	}
	return out
}

func hexValue(c byte) byte {
	if is(c, isDigit) {
		return c - '0'
	}
	return lower(c) - 'a' + 10
}

// maxAppended is how much is read of what follows a picture.
const maxAppended = 64 << 10

// Appended reports a file that follows the end of a picture (PNG, JPEG, or GIF), or a zip inside of it, and what it
// is. Bytes after the end that are not another file, and pictures that end early, are not reported: cameras and editors
// write such. It reads the picture once, in pieces.
func Appended(picture io.Reader) (about string, err error) {
	var signatures zipSignatures
	r := bufio.NewReaderSize(io.TeeReader(picture, &signatures), 32<<10)
	head, err := r.Peek(8)
	if err != nil {
		return "", ignoreEnd(err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		err = skipPNG(r)
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		err = skipJPEG(r)
	case bytes.HasPrefix(head, []byte("GIF8")):
		err = skipGIF(r)
	default:
		return "", nil
	}
	if err != nil {
		return "", ignoreEnd(err)
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxAppended))
	if about = appendedFile(rest); about == "" && signatures.entry && signatures.end {
		about = Zip.String() // in a block for comments: programs that unpack search a zip from its end
	}
	return about, err
}

// zipSignatures searches what is written to it for the signatures of a zip's entry and of its end.
type zipSignatures struct {
	entry, end bool
	last       []byte // of the bytes before
}

func (z *zipSignatures) Write(b []byte) (int, error) {
	const length = 4
	border := append(z.last, b[:min(len(b), length-1)]...)
	for _, part := range [][]byte{border, b} {
		z.entry = z.entry || bytes.Contains(part, []byte("PK\x03\x04"))
		z.end = z.end || bytes.Contains(part, []byte("PK\x05\x06"))
	}
	if len(b) < length-1 {
		z.last = border[max(0, len(border)-(length-1)):]
		return len(b), nil
	}
	z.last = append(z.last[:0], b[len(b)-(length-1):]...)
	return len(b), nil
}

// ignoreEnd returns nil for the end of a file: the picture is not complete.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// appendedFile returns what bytes after a picture are.
func appendedFile(rest []byte) string {
	for _, archive := range []string{"PK\x03\x04", "Rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "\xfd7zXZ\x00"} {
		if k := bytes.Index(rest, []byte(archive)); k >= 0 {
			return Sniff(rest[k:]).String()
		}
	}
	trimmed := bytes.TrimLeft(rest, "\x00 \r\n\t")
	if len(trimmed) < 8 {
		return ""
	}
	switch f := Sniff(trimmed); {
	case f.Native(), f.Compiled(), f.Archive(), f == PDF:
		return f.String()
	case f == Text && len(trimmed) >= 32, bytes.HasPrefix(trimmed, []byte("#!")), hasFold(trimmed, "<script"),
		hasFold(trimmed, "<?php"):
		return "text"
	}
	return ""
}

// skipPNG reads up to the end of the last chunk (PNG 3, 5.3).
func skipPNG(r *bufio.Reader) error {
	if _, err := r.Discard(8); err != nil {
		return err
	}
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(r, chunk[:]); err != nil {
			return err
		}
		if err := discard(r, int64(binary.BigEndian.Uint32(chunk[:]))+4); err != nil {
			return err
		}
		if string(chunk[4:]) == "IEND" {
			return nil
		}
	}
}

func discard(r *bufio.Reader, n int64) error {
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// skipJPEG reads up to the end-of-image marker (ITU T.81, annex B).
func skipJPEG(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice(0xFF); err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			return err
		}
		marker, err := r.ReadByte()
		for err == nil && marker == 0xFF {
			marker, err = r.ReadByte()
		}
		switch {
		case err != nil:
			return err
		case marker == 0xD9:
			return nil
		case marker == 0, marker == 1, marker >= 0xD0 && marker <= 0xD8: // data, and markers without a length
			continue
		}
		var length [2]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return err
		}
		if n := binary.BigEndian.Uint16(length[:]); n > 2 {
			if err := discard(r, int64(n)-2); err != nil {
				return err
			}
		}
	}
}

// skipGIF reads up to the trailer (GIF89a, 27).
func skipGIF(r *bufio.Reader) error {
	var screen [13]byte
	if _, err := io.ReadFull(r, screen[:]); err != nil {
		return err
	}
	if err := skipColors(r, screen[10]); err != nil {
		return err
	}
	for {
		kind, err := r.ReadByte()
		switch {
		case err != nil:
			return err
		case kind == ';':
			return nil
		case kind == '!': // an extension, and its label
			_, err = r.ReadByte()
		case kind == ',':
			var image [9]byte
			if _, err = io.ReadFull(r, image[:]); err == nil {
				if err = skipColors(r, image[8]); err == nil {
					_, err = r.ReadByte()
				}
			}
		default:
			return io.ErrUnexpectedEOF // it is damaged
		}
		for n := byte(1); err == nil && n > 0; {
			if n, err = r.ReadByte(); err == nil {
				err = discard(r, int64(n))
			}
		}
		if err != nil {
			return err
		}
	}
}

// skipColors reads the table of colors that the flags announce.
func skipColors(r *bufio.Reader, flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	return discard(r, 3<<(flags&7+1))
}
