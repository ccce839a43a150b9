package scan

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Scanner finds hits in texts. It is made by [New], never changes, and may be used by several goroutines at once.
type Scanner struct {
	filter   filter
	literals []literal
	shapes   []shapeRef
	kinds    [lastKind + 1][]int // the shapes for what a matcher in Go finds
	scratch  sync.Pool           // of *scratch
}

// literal is a short text that a scan searches for, and its check.
type literal struct {
	text  string // in lower case, unless exact
	exact bool   // case matters
	gram  string // four of its bytes that are rare in text, in lower case, if the heuristic selects badly
	next  string // if not "", one of these bytes must follow; for literals of less than four bytes
	check check
	arg   int    // for the check: which secret, which phase
	name  string // for the check: what Detail says
}

// check is the check of a literal.
type check uint8

const (
	checkDownload   check = iota // curl, wget, and similar: is the response run?
	checkFetch                   // PowerShell's downloads
	checkBase64                  // a decoder on a command line
	checkDecodeCall              // a decoder called in code
	checkPowerShell              // powershell with an encoded command
	checkFromBase64              // .NET's decoder
	checkEncoded                 // base64 of a word that commands hold
	checkNested                  // base64 of that base64
	checkHex                     // hexadecimal of such a word
	checkEscapedHex              // the same with \x
	checkUnpack                  // programs that unpack archives with a password
	checkPassword                // a password in prose
	checkPaste                   // the address of a paste site
	checkShortener               // the address of a shortener
	checkSecret                  // the prefix of a secret
	checkKeyBlock                // a private key
	checkValue                   // a secret that more than a prefix tells
	checkSkip                    // a switch that disables permissions
	checkCredential              // a path of credentials
	checkReverse                 // parts of reverse shells
	checkSudo                    // sudo
	checkProgram                 // an executable that the reader should run
	checkShape                   // a shape of a rule
	checks
)

// New returns a scanner for the rules of skillpm and others. It takes far less than a millisecond.
func New(others ...*Rule) *Scanner {
	s := &Scanner{}
	rules := s.addRules(append(Builtin(), others...))
	for _, table := range [...][]literal{
		commandLiterals, packedLiterals, linkLiterals(), secretLiterals(), permissionLiterals(), proseLiterals,
		credentialLiterals(),
		encodedLiterals(), valueLiterals(), rules,
	} {
		s.literals = append(s.literals, table...)
	}
	for i, l := range s.literals {
		if l.next == "" {
			at := max(0, strings.Index(l.text, l.gram))
			if l.gram == "" {
				at = rarest(l.text)
			}
			s.filter.add(gramOf(l.text[at:]), i, at)
			continue
		}
		for k, c := range []byte(l.next) {
			if strings.IndexByte(l.next, c|' ') == k || c|' ' == c || !strings.Contains(l.next, string(c|' ')) {
				s.filter.add(gramOf(l.text+string(c)), i, 0)
			}
		}
	}
	return s
}

// Text returns the hits in a text, in the order of their first bytes. Without hits, which is most common, it returns
// nil and does not allocate. There are at most [maxHits] hits of a kind.
func (s *Scanner) Text(data []byte, o Options) []Hit {
	t := text{data: data, Options: o}
	s.scan(&t)
	if t.shapes != nil {
		s.scratch.Put(t.shapes)
	}
	return t.hits
}

func (s *Scanner) scan(t *text) {
	data := t.data
	for i := s.filter.next(data, 0); i >= 0; i = s.filter.next(data, i+1) {
		s.checkAt(t, i)
	}
	t.invisibleCharacters()
	t.blankPadding()
	t.terminalEscapes()
	if t.SVG {
		t.activePicture()
	}
	if t.Skill {
		t.dynamicShell()
	}
	if t.count[PossibleSecret] > 0 && t.count[Secret] > 0 {
		t.dropKnownSecrets()
	}
	if len(t.hits) > 1 {
		slices.SortFunc(t.hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Kind, b.Kind),
				cmp.Compare(a.shape, b.shape))
		})
		t.hits = slices.CompactFunc(t.hits, func(a, b Hit) bool {
			return a.Kind == b.Kind && a.Start == b.Start && a.End == b.End && a.shape == b.shape
		})
	}
}

// checkAt runs the checks of every literal whose gram is at i.
func (s *Scanner) checkAt(t *text, i int) {
	for e := s.filter.lookup(gramAt(t.data, i)); e != 0; {
		candidate := s.filter.entries[e-1]
		e = candidate.next
		l := &s.literals[candidate.literal]
		start := i - int(candidate.offset)
		end := start + len(l.text)
		if start < 0 || end > len(t.data) || !l.is(t.data[start:end]) {
			continue
		}
		if l.next == "" || end < len(t.data) && strings.IndexByte(l.next, t.data[end]) >= 0 {
			t.check(s, l, start, end)
		}
	}
}

func (l *literal) is(b []byte) bool {
	if l.exact {
		return string(b) == l.text
	}
	return isFold(b, l.text)
}

// text is one text being scanned.
type text struct {
	Options
	data  []byte
	hits  []Hit
	count [lastKind + 1]uint8

	// checkedTo is, for each check, the end of what it has read and need not read again. It keeps the time linear if
	// candidates are close together.
	checkedTo [checks]int
	shapes    *scratch // nil until a shape is checked

	scanned        int      // bytes read outside the filter, for tests
	lookedBack     int      // bytes read backwards by farStart
	mixedTo        int      // the end of the last word that foreignLetter read
	phase          [4]int   // for checkEncoded: seen by phase
	lowered        []byte   // for around
	row            tableRow // for inCells
	passwordWindow window   // for checkPassword
	programWindow  window   // for checkProgram
}

func (t *text) check(s *Scanner, l *literal, start, end int) {
	switch l.check {
	case checkDownload:
		t.download(start, end)
	case checkFetch:
		t.powerShellDownload(start, end)
	case checkBase64:
		t.decoderToShell(start, end)
	case checkDecodeCall:
		t.decodeCall(start, end)
	case checkPowerShell:
		t.powerShell(start, end)
	case checkFromBase64:
		t.fromBase64(start, end)
	case checkEncoded, checkNested:
		t.encodedCommand(start, l.arg, l.check == checkNested)
	case checkHex, checkEscapedHex:
		t.hexadecimal(start, end, l.check)
	case checkUnpack:
		t.encryptedUnpack(start, end, l)
	case checkPassword:
		t.archivePassword(start, end)
	case checkPaste, checkShortener:
		t.siteAddress(l, start, end)
	case checkSecret:
		t.providerSecret(&secretForms[l.arg], start)
	case checkKeyBlock:
		t.keyBlock(start, end)
	case checkValue:
		t.secretValue(l, start, end)
	case checkSkip:
		t.permissionSwitch(l, start, end)
	case checkCredential:
		t.credentialPath(l, start, end)
	case checkReverse:
		t.reverseShell(l, start, end)
	case checkSudo:
		t.sudo(start, end)
	case checkProgram:
		t.installerFirst(start, end)
	case checkShape:
		t.shape(s, l.arg, start, end)
	}
}

// hit records a hit. One over several lines is cut to the first line.
func (t *text) hit(k Kind, start, end int, detail string) {
	if t.count[k] == maxHits {
		return
	}
	t.count[k]++
	if n := bytes.IndexByte(t.data[start:end], '\n'); n > 0 {
		end = start + n
	}
	for end-1 > start && is(t.data[end-1], isBlank) {
		end--
	}
	t.hits = append(t.hits, Hit{Kind: k, Start: start, End: end, Detail: detail})
}
