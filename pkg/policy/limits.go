package policy

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (r *reader) limits(l *Limits, v *yaml.Node) {
	ok := r.fields(v, "limits", fields{
		"files":       func(v *yaml.Node) { l.Files = r.count(v, "files") },
		"file_bytes":  func(v *yaml.Node) { l.FileBytes = r.size(v, "file_bytes") },
		"total_bytes": func(v *yaml.Node) { l.TotalBytes = r.size(v, "total_bytes") },
		"path_bytes":  func(v *yaml.Node) { l.PathBytes = r.size(v, "path_bytes") },
		"depth":       func(v *yaml.Node) { l.Depth = r.count(v, "depth") },
	})
	if ok && l.TotalBytes > 0 && l.FileBytes > l.TotalBytes {
		r.add(lookup(v, "file_bytes"), "", "file_bytes is more than total_bytes")
	}
}

var (
	number = lazily(`^[1-9][0-9]{0,14}$`)
	size   = lazily(`^([1-9][0-9]{0,8})(B|KiB|MiB|GiB)$`)
	near   = lazily(`^([1-9][0-9]{0,8}) ?(?i:b|([kmg])i?b?)$`)
)

// count reads a whole number from 1.
func (r *reader) count(v *yaml.Node, what string) int64 {
	if !r.has(v, what) {
		return 0
	}
	if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!int" || !number().MatchString(v.Value) {
		r.add(v, "write it without quotes and in digits, as 2000", "%s must be a whole number from 1", what)
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// size reads a number of bytes, with or without a unit.
func (r *reader) size(v *yaml.Node, what string) int64 {
	if v.Kind == yaml.ScalarNode && v.ShortTag() == "!!int" && !spoilt(v) {
		return r.count(v, what)
	}
	s, ok := r.text(v, what)
	if !ok {
		return 0
	}
	m := size().FindStringSubmatch(s)
	if m == nil {
		hint := "write bytes as a number, or with KiB, MiB or GiB, as 10MiB"
		if m := near().FindStringSubmatch(s); m != nil && m[2] != "" {
			hint = "write " + m[1] + strings.ToUpper(m[2]) + "iB, which is a number of 1024s"
		}
		r.add(v, hint, "%s is %q, which is not a size", what, s)
		return 0
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0
	}
	return n << map[string]int{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]]
}
