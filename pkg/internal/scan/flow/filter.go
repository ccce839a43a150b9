package flow

import (
	"regexp"
	"strings"
	"sync"
)

// filters are programs that print their input or the files in their arguments, in parts or changed. The value is the
// number of arguments before the files.
var filters = map[string]int{
	"cat": 0, "head": 0, "tail": 0, "less": 0, "more": 0, "tac": 0, "nl": 0, "strings": 0, "od": 0, "hexdump": 0,
	"gzip": 0, "gunzip": 0, "zcat": 0, "bzip2": 0, "xz": 0, "zstd": 0, "sort": 0, "uniq": 0, "fold": 0, "rev": 0,
	"paste":  0,
	"column": 0, "bat": 0, "cut": 0, "wc": 0, "sha256sum": 0, "md5sum": 0, "shasum": 0, "sha1sum": 0, "iconv": 0,
	"pv":   0,
	"grep": 1, "egrep": 1, "fgrep": 1, "rg": 1, "awk": 1, "gawk": 1, "sed": 1, "jq": 1, "yq": 1, "tr": 2, "dotenv": 0,
}

// oneVariable matches a pattern for one variable of an .env file or one entry of JSON, such as ^ACME_API_KEY= and "key".
var oneVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\^?(?:export )?"?[A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+=?"?(?:=?\.\*)?$|^\.[A-Za-z_"\[]|^"[A-Za-z0-9_-]+"$`)
})

// filter evaluates a program that prints its input or files.
func (s *shell) filter(name string, args []value, in value) value {
	out, skip, writes, entry := in, filters[name], false, ""
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case name == "sed" && (strings.HasPrefix(text, "-i") || text == "--in-place"):
			writes = true
		case (name == "grep" || name == "sed" || name == "rg") && text == "-e" && i+1 < len(args):
			i++
			skip = 0
		case (name == "head" || name == "tail") && (text == "-n" || text == "-c"), (name == "awk" ||
			name == "gawk") && (text == "-F" || text == "-v"),
			name == "cut" && (text == "-d" || text == "-f" || text == "-c"), name == "jq" && (text == "--arg" ||
				text == "--argjson"):
			i++
			if name == "jq" && i+1 < len(args) {
				i++
				out = union(out, args[i])
			}
		case strings.HasPrefix(text, "-") && text != "-":
		case skip > 0:
			skip--
			if oneVariable().MatchString(text) {
				entry = text
			}
			if name == "tr" && strings.Contains(strings.ToLower(text), "n-za-m") {
				out = union(out, s.source(Fact{Kind: Decodes, Detail: "rot13", Client: "tr", Sure: Certain}))
			}
			if name == "jq" {
				out = union(out, args[i])
			}
		default:
			out = union(out, s.read(args[i], name))
			if writes {
				s.write(args[i], value{}, name)
			}
		}
	}
	switch {
	case name == "wc" || strings.HasSuffix(name, "sum"):
		return value{}
	case name == "rev" && len(in.from) == 0 && in.text != "":
		return s.source(Fact{Kind: Decodes, Detail: "reversed text", Client: "rev", Sure: Certain})
	case entry != "":
		return s.selected(out, entry)
	case name == "cat" && len(args) == 0:
		return in
	}
	return value{from: out.from}
}

// namesVariable matches a pattern that has the name of one variable, such as ^ACME_API_KEY=(.*)$.
var namesVariable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Z][A-Z0-9]*_[A-Z0-9_]+`) })
