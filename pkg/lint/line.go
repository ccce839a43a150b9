package lint

import (
	"sync"

	"github.com/skillpm/skillpm/pkg/internal/scan"
)

// lineKey identifies a line of a file.
type lineKey struct {
	path string // as in reports
	line int
}

// lineReader reads the lines of a run's files for its report.
type lineReader struct {
	run      *lintRun
	redacted map[lineKey]string // lines with secrets, as reports may show them

	mu   sync.Mutex
	path string // of the last file, as in reports
	file *source
}

// read returns a line of a file; ok is false if the file does not have it.
func (l *lineReader) read(path string, line int) (text string, ok bool) {
	if text, ok := l.redacted[lineKey{path, line}]; ok {
		return text, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.path != path { // findings are in the order of files
		l.path, l.file = path, l.run.open(path)
	}
	if l.file == nil || line > len(l.file.index()) {
		return "", false
	}
	return l.file.line(line), true
}

// open reads a file of a report; nil if there is none, or none with text.
func (l *lintRun) open(shown string) *source {
	name := shown
	switch {
	case l.Unshow != nil:
		name = l.Unshow(shown)
	case l.Show != nil:
		return nil
	}
	data, err := readHead(l.fsys, name, maxText)
	if err != nil {
		return nil
	}
	if scan.Sniff(data[:min(len(data), sniffSize)]) == scan.UTF16 {
		data = scan.FromUTF16(data)
	}
	return newSource(name, data)
}
