package advisory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// A list of blocked content has one line for each pack and each tree digest that a malicious advisory names, sorted: the
// key, a tab, and the advisory as JSON. A process finds a key in it with a few short reads, so that every activation
// can look, however many advisories there are.

const (
	maxBlockedLine  = 2 * MaxBytes     // greatest length of a line in bytes
	maxBlockedBytes = 2 * MaxFeedBytes // greatest size of a list: it repeats the summary for each digest
)

// EncodeBlocked returns the list of what the advisories of a feed state to be malicious.
func EncodeBlocked(all []*Advisory) ([]byte, error) {
	var lines []string
	size := 0
	for _, a := range all {
		if a.Withdrawn != nil || !a.Malicious() {
			continue
		}
		short := &Advisory{SchemaVersion: SchemaVersion, ID: a.ID, Modified: a.Modified, Summary: a.Summary}
		trees, _ := json.Marshal(short) // cannot fail
		for _, x := range a.Affected {
			if x.Package.Ecosystem != Ecosystem {
				continue
			}
			for _, t := range x.trees() {
				lines = append(lines, t+"\t"+string(trees)+"\n")
				size += len(lines[len(lines)-1])
			}
			if len(x.Ranges)+len(x.Versions) > 0 {
				one := *short
				one.Affected = []Affected{{Package: x.Package, Ranges: x.Ranges, Versions: x.Versions}}
				text, err := json.Marshal(one)
				if err != nil {
					return nil, err
				}
				lines = append(lines, x.Package.Name+"\t"+string(text)+"\n")
				size += len(lines[len(lines)-1])
			}
			if size > maxBlockedBytes {
				return nil, diag.Errorf(diag.Invalid, "the list of malicious content has more than %d bytes", maxBlockedBytes)
			}
		}
	}
	return joinSorted(lines), nil
}

// MergeBlocked returns one list with the lines of several.
func MergeBlocked(lists ...[]byte) []byte {
	var lines []string
	for _, list := range lists {
		lines = slices.AppendSeq(lines, strings.Lines(string(list)))
	}
	return joinSorted(lines)
}

func joinSorted(lines []string) []byte {
	slices.Sort(lines)
	return []byte(strings.Join(slices.Compact(lines), ""))
}

// Blocked is a list of blocked content.
type Blocked struct {
	File io.ReaderAt
	Size int64
}

// OpenBlocked opens a list in a file, which the caller closes. The error is [fs.ErrNotExist] if there is none.
func OpenBlocked(name string) (Blocked, io.Closer, error) {
	f, err := os.Open(name)
	if err != nil {
		return Blocked{}, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return Blocked{}, nil, errors.Join(err, f.Close())
	}
	return Blocked{File: f, Size: info.Size()}, f, nil
}

// Find returns an advisory that states a subject to be malicious; nil if there is none. The trees of the subject are
// computed only if the list has any. The error means that the list is damaged.
func (b Blocked) Find(packID, version string, trees func() ([]string, error)) (*Advisory, error) {
	found, err := b.lookup(packID)
	if err != nil {
		return nil, err
	}
	for _, a := range found {
		if a.Affects(Subject{Pack: packID, Version: version}) {
			return a, nil
		}
	}
	if any, err := b.from("t1:"); err != nil || any == b.Size {
		return nil, err
	}
	digests, err := trees()
	if err != nil {
		return nil, err
	}
	for _, t := range digests {
		if found, err := b.lookup(t); err != nil || len(found) > 0 {
			return first(found), err
		}
	}
	return nil, nil
}

func first(all []*Advisory) *Advisory {
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// lookup returns the advisories of a key.
func (b Blocked) lookup(key string) ([]*Advisory, error) {
	if key == "" {
		return nil, nil
	}
	at, err := b.from(key + "\t")
	var found []*Advisory
	for err == nil && at < b.Size {
		var line []byte
		line, err = b.line(at)
		text, ok := bytes.CutPrefix(line, []byte(key+"\t"))
		if !ok || err != nil {
			break
		}
		var a Advisory
		if err = json.Unmarshal(text, &a); err == nil {
			found = append(found, &a)
		}
		at += int64(len(line))
	}
	if err != nil {
		return nil, diag.Errorf(diag.Invalid, "the list of blocked content is damaged: %w", err).
			WithHint("write the list again with: skillpm audit")
	}
	return found, nil
}

// from returns the offset of the first line that is not less than a text, or the size.
func (b Blocked) from(text string) (int64, error) {
	low, high := int64(0), b.Size // low is the start of a line, and every line before it is less
	for low < high {
		middle := (low + high) / 2
		start, err := b.lineStart(low, middle)
		if err != nil {
			return 0, err
		}
		line, err := b.line(start)
		if err != nil {
			return 0, err
		}
		if string(line) < text {
			low = start + int64(len(line))
		} else {
			high = start
		}
	}
	return low, nil
}

// lineStart returns the start of the line that an offset is in, at or after low.
func (b Blocked) lineStart(low, at int64) (int64, error) {
	const step = 4096
	for end := at; end > low; {
		from := max(low, end-step)
		buf := make([]byte, end-from)
		if _, err := b.File.ReadAt(buf, from); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		end = from
	}
	return low, nil
}

// line returns the line at an offset, with its line feed.
func (b Blocked) line(at int64) ([]byte, error) {
	var line []byte
	buf := make([]byte, 4096)
	for {
		n, err := b.File.ReadAt(buf, at+int64(len(line)))
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return append(line, buf[:i+1]...), nil
		}
		line = append(line, buf[:n]...)
		switch {
		case err != nil:
			return nil, fmt.Errorf("a line does not end: %w", err)
		case len(line) > maxBlockedLine:
			return nil, fmt.Errorf("a line has more than %d bytes", maxBlockedLine)
		}
	}
}

// BlockedError is the error for a skill or pack that an advisory states to be malicious.
type BlockedError struct {
	Subject  string // the skill or pack, as messages name it
	Advisory *Advisory
	Fix      string // what to do
}

// Error names the advisory.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is malicious (advisory %s)", e.Subject, e.Advisory)
}

// Code returns [diag.Denied].
func (e *BlockedError) Code() diag.Code { return diag.Denied }

// Hint returns what to do.
func (e *BlockedError) Hint() string { return e.Fix }
