package lint

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillpm/skillpm/pkg/scan"
)

type format int

const (
	formatText format = iota
	formatNative
	formatArchive
	formatOther
)

func sniff(head []byte) format {
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return formatNative
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return formatArchive
	case bytes.IndexByte(head, 0) >= 0:
		return formatOther
	}
	return formatText
}

func (f format) Native() bool   { return f == formatNative }
func (f format) Compiled() bool { return false }
func (f format) Archive() bool  { return f == formatArchive }
func (f format) String() string { return "a program" }

type scanner struct{}

func newScanner() *scanner                            { return nil }
func (*scanner) Text([]byte, scan.Options) []scan.Hit { return nil }

type inArchive struct {
	Native, Compiled bool
	Kind             scan.Kind
	Detail           string
}

func (*scanner) Archive(string, []byte) []inArchive { return nil }
func toolRisk(item string) (bool, bool)             { return item == "*", item == "Bash" }

type near struct{ Text, Of int }

func similarTo([]string, float64) []near { return nil }
func squashName(s string) string         { return strings.ReplaceAll(s, "-", "") }
func matchGlob(p, s string) bool         { ok, _ := path.Match(p, s); return ok }

type problem struct {
	Line, Column int
	Message      string
}

func checkShell(string, []byte) *problem { return nil }
