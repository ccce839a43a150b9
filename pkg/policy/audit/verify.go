package audit

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Finding is a position at which a log differs from what was written.
type Finding struct {
	File string `json:"file"`
	Line int64  `json:"line"` // from 1; for missing lines, the one after them
	Seq  int64  `json:"seq"`  // number of the expected record
	What string `json:"what"`
}

// String describes the finding in one line.
func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.What) }

// Verified is the result of [Verify].
type Verified struct {
	Files    int       `json:"files"`
	Records  int64     `json:"records"`
	Torn     int64     `json:"torn"` // incomplete lines of killed writers, followed by a record with gap set
	First    int64     `json:"first"`
	Last     int64     `json:"last"`
	Head     string    `json:"head"`             // digest of the last line, to be stored elsewhere
	KeptAt   int64     `json:"keptAt,omitempty"` // number of the record with the digest in VerifyOptions.Head
	Findings []Finding `json:"findings"`         // at most maxFindings
	More     int64     `json:"more,omitempty"`   // number of findings beyond maxFindings
	Notes    []Finding `json:"notes,omitempty"`  // incomplete lines of killed writers; at most maxFindings
}

// maxFindings is the maximum number of findings.
const maxFindings = 100

// VerifyOptions have known facts about a log.
type VerifyOptions struct {
	Head  string // digest of a line that was once the last; "" if unknown
	After string // digest of the line before the first one, if older files were moved away; "" for none
}

// Verify reads the log at path, with its closed files, and checks the chain: each record must have the next number and
// the digest of the previous line. Findings are not an error: see [Verified.Err]. Memory use does not depend on the
// log's size.
func Verify(ctx context.Context, path string, o VerifyOptions) (*Verified, error) {
	files, err := logFiles(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	v := &verifier{result: &Verified{Findings: []Finding{}}, o: o, ctx: ctx}
	for _, file := range files {
		if err := v.file(file); err != nil {
			return nil, err
		}
	}
	v.end()
	return v.result, nil
}

// Err returns an error with code [diag.Integrity] if there are findings.
func (v *Verified) Err() error {
	if len(v.Findings) == 0 {
		return nil
	}
	n := int64(len(v.Findings)) + v.More
	what := "1 damaged record, at"
	if n > 1 {
		what = fmt.Sprintf("%d damaged records, the first at", n)
	}
	return diag.Errorf(diag.Integrity, "the audit log was changed: %s line %d of %s", what,
		v.Findings[0].Line, v.Findings[0].File).
		WithHint("keep a copy of the audit log: the records before line %d are intact, but later records may be forged",
			v.Findings[0].Line)
}

// position has the facts about a line that later lines depend on.
type position struct {
	seq    int64
	digest string
	file   string
	line   int64
}

type verifier struct {
	result *Verified
	o      VerifyOptions
	ctx    context.Context

	last   position // last line
	before position // last record before that
	torn   int64    // consecutive lines before this one that are not records
	begun  bool
}

func (v *verifier) file(path string) (err error) {
	f, _, err := openLog(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	v.result.Files++
	in := bufio.NewReaderSize(f, maxLine)
	for n := int64(1); ; n++ {
		if n%1000 == 0 && v.ctx.Err() != nil {
			return v.ctx.Err()
		}
		long := sha256.New()
		line, err := nextLine(in, long)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		digest := Digest(line)
		if line == nil {
			digest = sum(long)
		}
		v.line(line, position{digest: digest, file: path, line: n})
	}
}

// line checks a line against the previous ones.
func (v *verifier) line(line []byte, pos position) {
	r, ok := parseLink(line)
	if !ok {
		pos.seq = v.last.seq + 1
		v.gap(line, pos)
		v.torn++
		v.result.Torn++
		if v.torn >= maxTorn {
			pos.seq = maxTorn // writers look back at most this far
		}
		v.before, v.last = v.last, pos
		return
	}
	pos.seq = r.Seq
	v.result.Records++
	if pos.digest == v.o.Head {
		v.result.KeptAt = r.Seq
	}
	v.follow(r, pos)
	v.torn, v.begun = 0, true
}

// gap handles a line that is not a record. A writer that is killed leaves an incomplete line at most. Before the first
// record there may be foreign lines.
func (v *verifier) gap(line []byte, pos position) {
	switch begins := fmt.Sprintf(`{"seq":%d,"ts":`, pos.seq); {
	case v.torn >= maxTorn: // its number is unknown
	case v.begun &&
		(len(line) == 0 || !strings.HasPrefix(string(line), begins) && !strings.HasPrefix(begins, string(line))):
		v.find(pos, pos.seq, fmt.Sprintf("this line was changed: it is neither record %d nor the beginning of this record, "+
			"which a killed process leaves", pos.seq))
	case len(v.result.Notes) < maxFindings:
		v.result.Notes = append(v.result.Notes, Finding{
			File: pos.file, Line: pos.line, Seq: pos.seq,
			What: fmt.Sprintf("record %d is incomplete: its process was probably killed", pos.seq),
		})
	}
}

// follow checks that a record continues the previous line.
func (v *verifier) follow(r link, pos position) {
	next := v.last.seq + 1
	switch {
	case !v.begun:
		v.first(r, pos)
	case r.Prev == v.last.digest && r.Seq == next && v.torn > 0 && !r.Gap:
		v.find(pos, next, "the previous line is not a record, but this record does not have gap: true")
	case r.Prev == v.last.digest && r.Seq == next:
	case r.Prev == v.last.digest:
		v.find(pos, next, fmt.Sprintf("the number of this record is %d, but the number must be %d", r.Seq, next))
	case r.Prev == v.before.digest && r.Seq == v.before.seq+1:
		v.find(v.last, next, "this line was inserted, or moved to this position")
	case r.Seq == next:
		v.find(v.last, v.last.seq,
			"this line or the next line was changed: the digest in the next record does not match this line")
	case r.Seq > next:
		v.find(pos, next, fmt.Sprintf("%s missing before this line", records(next, r.Seq-1)))
	default:
		v.find(pos, next, fmt.Sprintf("record %d follows record %d: this line was inserted or moved", r.Seq,
			v.last.seq))
		return // the next line must continue this one
	}
	v.before, v.last = v.last, pos
}

func records(from, to int64) string {
	if from == to {
		return fmt.Sprintf("record %d is", from)
	}
	return fmt.Sprintf("records %d to %d are", from, to)
}

// first checks the first record of a log.
func (v *verifier) first(r link, pos position) {
	v.result.First = r.Seq
	switch {
	case v.torn > 0 && (r.Prev != v.last.digest || r.Seq != v.last.seq+1):
		v.find(pos, v.last.seq+1,
			"the lines before this record are not records, and this record does not continue these lines")
	case v.torn > 0:
	case v.o.After != "" && r.Prev != v.o.After:
		v.find(pos, r.Seq, "the first record does not follow the record with the digest "+v.o.After)
	case v.o.After == "" && r.Seq == 1 && r.Prev != "":
		v.find(pos, 1, "the first record refers to an earlier line")
	case v.o.After == "" && r.Seq != 1:
		v.find(pos, 1, fmt.Sprintf("%s missing before this line; if you moved older files, add --after %s",
			records(1, r.Seq-1), r.Prev))
	}
}

// end checks the last line.
func (v *verifier) end() {
	v.result.Last, v.result.Head = v.last.seq, v.last.digest
	if v.o.Head != "" && v.result.KeptAt == 0 {
		v.find(v.last, v.last.seq, "no record has the digest "+v.o.Head+
			", which the last record once had: the end of the log was removed or rewritten")
	}
}

// find adds a finding.
func (v *verifier) find(pos position, seq int64, what string) {
	if n := len(v.result.Findings); n > 0 && v.torn > 0 && pos.line == v.result.Findings[n-1].Line &&
		pos.file == v.result.Findings[n-1].File {
		return // the line already has a finding
	}
	if len(v.result.Findings) == maxFindings {
		v.result.More++
		return
	}
	v.result.Findings = append(v.result.Findings, Finding{
		File: cmp.Or(pos.file, "the log"), Line: pos.line, Seq: seq,
		What: what,
	})
}
