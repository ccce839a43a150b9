package markdown

import (
	"bytes"
	"strings"
)

// leaf is a block with inline content, or a block of HTML.
type leaf struct {
	kind  leafKind
	first int // indexes in Reader.segs, or for HTML in Reader.starts
	count int
	title bool // it is a heading
	note  int  // the footnote that contains it, or -1

	// For a paragraph with a table at its end: the index of the delimiter row, 0 for no table.
	delimiter, columns int

	start, stop int // of HTML

	// The number of results up to the end of the leaf.
	links, spans, anchors, parts int
}

// codeLeaf is the open code block.
type codeLeaf struct {
	char   byte // of the fence
	length int
	index  int  // indentation of the fence, in bytes
	plain  bool // every line starts at the same position as in the file
}

// rawBlock is a code block with its positions.
type rawBlock struct {
	Block
	fence    int // start of a fenced block
	language extent
}

// startFence opens a fenced code block.
func (r *Reader) startFence(o *opening) start {
	b := r.text[:r.stop]
	c, i := b[r.next], r.next
	for i < len(b) && b[i] == c {
		i++
	}
	length := i - r.next
	if length < 3 {
		return noStart
	}
	var info extent
	if i < len(b)-1 {
		info = trim(b, extent{i, len(b)})
		if c == '`' && bytes.IndexByte(b[info.start:info.end], '`') >= 0 {
			return noStart
		}
	}
	r.begin(o)
	found := rawBlock{fence: r.next, language: info}
	if i := bytes.IndexByte(b[info.start:info.end], ' '); i >= 0 {
		found.language.end = info.start + i
	}
	found.Fenced, found.Offset, found.End, found.first = true, r.stop, r.stop, len(r.starts)
	found.Shell = isShell(b[found.language.start:found.language.end])
	r.code = codeLeaf{char: c, length: length, index: r.index()}
	r.code.plain = r.code.index == 0 && len(r.stack) == 0
	r.leaf = fencedLeaf
	r.blocks = append(r.blocks, found)
	r.codes = append(r.codes, extent{r.next, r.stop})
	if len(r.stack) == 0 {
		r.readFence()
	}
	return leafStart
}

// isShell reports whether code in a language is probably shell commands.
func isShell(language []byte) bool {
	if len(language) > len("shell-session") {
		return false
	}
	switch strings.ToLower(string(language)) {
	case "", "sh", "bash", "zsh", "shell", "console", "terminal", "shell-session":
		return true
	}
	return false
}

// readFence reads the lines of a fenced block outside of containers up to its end.
func (r *Reader) readFence() {
	for r.nextLine() {
		if r.continueLeaf(); r.leaf == noLeaf {
			return
		}
	}
}

// continueLeaf adds the line to the open code block or HTML block. It returns false if the block ended before the line.
func (r *Reader) continueLeaf() bool {
	switch r.leaf {
	case fencedLeaf:
		r.continueFence()
		return true
	case indentedLeaf:
		return r.continueIndented()
	}
	return r.continueHTML()
}

func (r *Reader) continueFence() {
	if r.pos >= r.stop {
		return
	}
	if r.next < r.stop && r.text[r.next] == r.code.char && r.indent() < 4 {
		i := r.next
		for i < r.stop && r.text[i] == r.code.char {
			i++
		}
		r.steps += i - r.next
		if i-r.next >= r.code.length && isBlank(r.text[i:r.stop]) {
			r.codes[len(r.codes)-1].end = r.stop
			r.leaf = noLeaf
			return
		}
	}
	if !r.code.plain {
		r.skip(min(r.indent(), r.code.index))
		r.starts = append(r.starts, r.pos)
	}
	r.addCode(r.stop)
}

// addCode extends the open code block to the end of a line.
func (r *Reader) addCode(stop int) {
	b := &r.blocks[len(r.blocks)-1]
	b.End, b.lines = stop, len(r.starts)-b.first
	if b.lines == 1 {
		b.Offset = r.starts[b.first]
	}
	r.codes[len(r.codes)-1].end = stop
}

// openIndented opens an indented code block.
func (r *Reader) openIndented() {
	r.skip(4)
	var found rawBlock
	found.Offset, found.first = r.pos, len(r.starts)
	r.leaf = indentedLeaf
	r.blocks = append(r.blocks, found)
	r.codes = append(r.codes, extent{r.pos, r.stop})
	r.starts = append(r.starts, r.pos)
	r.addCode(r.stop)
}

func (r *Reader) continueIndented() bool {
	blank := r.blank()
	if r.indent() >= 4 {
		r.skip(4)
	} else if !blank {
		return false
	} else {
		r.pos = max(r.pos, r.stop-1)
	}
	r.starts = append(r.starts, r.pos)
	if !blank {
		r.addCode(r.stop)
	}
	return true
}

// closeLeaf closes the open leaf.
func (r *Reader) closeLeaf() {
	switch r.leaf {
	case paragraphLeaf:
		r.closeParagraph()
	case indentedLeaf:
		b := &r.blocks[len(r.blocks)-1]
		r.starts = r.starts[:b.first+b.lines] // without trailing blank lines
	}
	r.leaf = noLeaf
}

// startHeading opens and closes a heading that starts with number signs.
func (r *Reader) startHeading(o *opening) start {
	b := r.text[:r.stop]
	i := r.next
	for i < len(b) && b[i] == '#' {
		i++
	}
	if i-r.next > 6 || i < len(b) && !isSpace(b[i]) || r.indent() >= r.stop-r.pos+r.pad {
		return noStart
	}
	e := trim(b, extent{i, len(b)})
	end := e.end
	for end > e.start && b[end-1] == '#' {
		end--
	}
	if end == e.start {
		e.end = end
	} else if end < e.end && isSpace(b[end-1]) {
		e = trim(b, extent{e.start, end})
	}
	r.begin(o)
	heading := leaf{kind: paragraphLeaf, first: len(r.segs), title: true, note: r.note}
	if e.start < e.end {
		r.segs = append(r.segs, seg{start: e.start, stop: e.end})
		heading.count = 1
	}
	r.leaves = append(r.leaves, heading)
	return leafStart
}

// underline reports whether the rest of the line turns the paragraph above into a heading. As in goldmark, a tab must
// not indent it.
func (r *Reader) underline() bool {
	c, i := r.text[r.next], r.next
	for i < r.stop && r.text[i] == c {
		i++
	}
	r.steps += i - r.next
	return !r.tabbed() && isBlank(r.text[i:r.stop])
}

// startUnderlined turns the open paragraph into a heading, if it has more than definitions and a table.
func (r *Reader) startUnderlined(o *opening) start {
	r.endParagraph(true)
	r.leaf = noLeaf
	o.paragraph, o.inContainer = false, false
	heading := &r.leaves[len(r.leaves)-1]
	if heading.text() == 0 {
		return againStart
	}
	heading.title = true
	r.begin(o)
	return leafStart
}

// text returns the number of lines of a paragraph before its table.
func (l *leaf) text() int {
	if l.delimiter > 0 {
		return l.delimiter - 1
	}
	return l.count
}
