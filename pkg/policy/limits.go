package policy

import (
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/yamlx"
)

func (l *Limits) read(v yamlx.Value) {
	for key, v := range v.Fields("depth", "file_bytes", "files", "path_bytes", "total_bytes") {
		switch key {
		case "files":
			l.Files = v.Int(0)
		case "file_bytes":
			l.FileBytes = byteSize(v)
		case "total_bytes":
			l.TotalBytes = byteSize(v)
		case "path_bytes":
			l.PathBytes = byteSize(v)
		case "depth":
			l.Depth = v.Int(0)
		}
	}
	if l.TotalBytes > 0 && l.FileBytes > l.TotalBytes {
		v.Get("file_bytes").Errorf("", "file_bytes is more than total_bytes")
	}
}

var (
	size = lazily(`^([1-9][0-9]{0,8})(B|KiB|MiB|GiB)$`)
	near = lazily(`^([1-9][0-9]{0,8}) ?(?i:b|([kmg])i?b?)$`)
)

// byteSize reads a number of bytes, with or without a unit.
func byteSize(v yamlx.Value) int64 {
	if v.IsScalar() && v.Node.ShortTag() == "!!int" {
		return v.Int(0)
	}
	return yamlx.As(v, func(s string) (int64, error) {
		m := size().FindStringSubmatch(s)
		if m == nil {
			hint := "write bytes as a number, or with KiB, MiB or GiB, as 10MiB"
			if m := near().FindStringSubmatch(s); m != nil && m[2] != "" {
				hint = "write " + m[1] + strings.ToUpper(m[2]) + "iB, which is a number of 1024s"
			}
			return 0, wrong(hint, "%s is %q, which is not a size", v.Name, s)
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		return n << map[string]int{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]], err
	})
}
