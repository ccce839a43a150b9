package markdown

import "bytes"

// findTable finds the first delimiter row of a paragraph.
func (r *Reader) findTable(l *leaf) {
	segs := r.segs[l.first : l.first+l.count]
	for i, s := range segs[1:] {
		columns := r.delimiterRow(s)
		if columns == 0 {
			continue
		}
		if r.cells(segs[i]) <= columns {
			l.delimiter, l.columns = i+1, columns
		}
		return
	}
}

// delimiterRow returns the number of columns of a delimiter row, or 0 if the line is not one.
func (r *Reader) delimiterRow(s seg) int {
	line := r.text[s.start:s.stop]
	width, i := s.pad, 0
	for ; i < len(line) && (line[i] == ' ' || line[i] == '\t'); i++ {
		if line[i] == '\t' {
			width += 4 - width%4
		} else {
			width++
		}
	}
	r.steps += i
	if width > 3 {
		return 0
	}
	dashes := s.pad == 0
	for _, c := range line {
		if c == '-' {
			continue
		}
		dashes = false
		if c != '|' && c != ':' && !isSpace(c) {
			return 0
		}
	}
	r.steps += len(line)
	if dashes {
		return 0
	}
	return columns(line)
}

// columns returns the number of columns of a delimiter row, or 0 if one is invalid.
func columns(row []byte) int {
	row = bytes.TrimSpace(row)
	row, _ = bytes.CutPrefix(row, []byte("|"))
	if len(bytes.TrimSpace(row)) == 0 {
		return 0
	}
	row, _ = bytes.CutSuffix(row, []byte("|"))
	n := 0
	for more := true; more; n++ {
		var column []byte
		column, row, more = bytes.Cut(row, []byte("|"))
		column = bytes.TrimSpace(column)
		column = bytes.TrimSuffix(bytes.TrimPrefix(column, []byte(":")), []byte(":"))
		if len(column) == 0 || bytes.Count(column, []byte("-")) != len(column) {
			return 0
		}
	}
	return n
}

// cells returns the number of cells in a row.
func (r *Reader) cells(s seg) int {
	n := 0
	row := r.row(s)
	for row.start < row.end {
		row.start = r.cellEnd(row) + 1
		n++
	}
	return n
}

// row returns a line without outer spaces and bars.
func (r *Reader) row(s seg) extent {
	row := trim(r.text, extent{s.start, s.stop})
	if row.start == row.end {
		return row
	}
	last := r.text[row.end-1]
	if r.text[row.start] == '|' {
		row.start++
	}
	if last == '|' {
		row.end--
	}
	return row
}

// cellEnd returns the end of the first cell of a row: an unescaped bar.
func (r *Reader) cellEnd(row extent) int {
	at := row.start
	for {
		i := bytes.IndexByte(r.text[at:row.end], '|')
		if i < 0 {
			r.steps += row.end - row.start
			return row.end
		}
		at += i
		if at == row.start || r.text[at-1] != '\\' {
			r.steps += at - row.start + 1
			return at
		}
		at++
	}
}

// readTable reads the cells of a paragraph's table.
func (r *Reader) readTable(l *leaf) {
	segs := r.segs[l.first : l.first+l.count]
	for i := l.delimiter - 1; i < len(segs); i++ {
		if i == l.delimiter {
			continue
		}
		row := r.row(segs[i])
		if row.start >= row.end || !r.hasSpecial(row.start, row.end) {
			continue
		}
		for n := 0; row.start < row.end && n < l.columns; n++ {
			end := r.cellEnd(row)
			cell := trim(r.text, extent{row.start, end})
			row.start = end + 1
			if r.hasSpecial(cell.start, cell.end) {
				r.lines = append(r.lines[:0], cell)
				r.readLines()
			}
		}
	}
}
