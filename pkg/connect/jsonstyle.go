package connect

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/tailscale/hujson"
)

// multi reports whether each part of an object or array is on its own line. An empty one follows the style of the
// file.
func (d *jsonFile) multi(v *hujson.Value) bool {
	all, _, _ := parts(v)
	if len(all) == 0 {
		if v == &d.root {
			return true
		}
		return d.multi(&d.root)
	}
	return bytes.Contains(all[0].first.BeforeExtra, []byte("\n"))
}

// unit returns the indentation of one level in the file.
func (d *jsonFile) unit() string {
	all, _, _ := parts(&d.root)
	if len(all) > 0 {
		if own, _ := lineOf(all[0].first.BeforeExtra); own != "" {
			return own
		}
	}
	return "  "
}

// lineOf returns the indentation of the line that a value begins on.
func lineOf(before hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return "", false
	}
	line := before[i+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]), true
}

// tight reports whether the file has no optional spaces.
func (d *jsonFile) tight() bool {
	all, _, _ := parts(&d.root)
	return len(all) > 0 && len(all[0].value.BeforeExtra) == 0
}

func (d *jsonFile) space() string {
	if d.tight() {
		return ""
	}
	return " "
}

func (d *jsonFile) colon() string { return ":" + d.space() }

// render formats a value on one line, or on several with an indentation after the first.
func (d *jsonFile) render(value any, indent string, multi bool) string {
	var open, closing string
	var inner []string
	deeper := indent + d.unit()
	switch v := value.(type) {
	case string:
		return jsonx.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case []string:
		open, closing = "[", "]"
		for _, s := range v {
			inner = append(inner, jsonx.Quote(s))
		}
	case []any:
		open, closing = "[", "]"
		for _, e := range v {
			inner = append(inner, d.render(e, deeper, multi))
		}
	case object:
		open, closing = "{", "}"
		for _, m := range v {
			inner = append(inner, jsonx.Quote(m.key)+d.colon()+d.render(m.value, deeper, multi))
		}
	}
	switch {
	case len(inner) == 0:
		return open + closing
	case !multi:
		return open + strings.Join(inner, ","+d.space()) + closing
	default:
		return open + d.eol + deeper + strings.Join(inner, ","+d.eol+deeper) + d.eol + indent + closing
	}
}
