package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// The schemes of the resources.
const (
	skillScheme = "skill://"
	taskScheme  = "task://"
)

// maxURI is the maximum length of a resource's URI, in bytes.
const maxURI = 8 << 10

// The media types of resources that are not files.
const (
	markdownType  = "text/markdown"
	directoryType = "inode/directory"
	jsonType      = "application/json"
	textType      = "text/plain"
)

// baseOf returns the base of a skill's URIs: its pack or layer, and the name in its frontmatter.
func baseOf(k *catalog.Skill) string {
	return address(append(strings.Split(cmp.Or(k.Pack, k.Layer), "/"), declared(k)))
}

// address returns the URI of path segments.
func address(segments []string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	return skillScheme + strings.Join(escaped, "/")
}

// uriOf returns the URI of a skill's file, "." for its directory.
func uriOf(k *catalog.Skill, file string) string {
	if file == "." {
		return baseOf(k)
	}
	return baseOf(k) + "/" + strings.TrimPrefix(address(strings.Split(file, "/")), skillScheme)
}

// readable returns the skills that programs may read for a model, in order. Of two with the same URI it returns the
// first.
func (v *serving) readable(ctx context.Context) ([]*catalog.Skill, error) {
	all, err := v.host.Skills(ctx)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(all))
	out := make([]*catalog.Skill, 0, len(all))
	for _, k := range all {
		if base := baseOf(k); k.ModelInvocable && !seen[base] {
			seen[base] = true
			out = append(out, k)
		}
	}
	return out, nil
}

// resolve returns the skill and the file of a URI, "." for the skill's directory. The error has code NotFound if there
// is none, and Invalid for an invalid URI.
func (v *serving) resolve(ctx context.Context, uri string) (*catalog.Skill, string, error) {
	segments, err := split(uri)
	if err != nil {
		return nil, "", err
	}
	all, err := v.readable(ctx)
	if err != nil {
		return nil, "", err
	}
	skills := make(map[string]*catalog.Skill, len(all))
	for _, k := range all {
		skills[baseOf(k)] = k
	}
	for i := range segments {
		if k := skills[address(segments[:i+1])]; k != nil {
			return k, cmp.Or(strings.Join(segments[i+1:], "/"), "."), nil
		}
	}
	return nil, "", diag.Errorf(diag.NotFound, "resource %q does not exist", uri)
}

// split returns the path segments of a URI. It refuses every spelling of a path that leads out of the skill.
func split(uri string) ([]string, error) {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	if !ok || len(uri) > maxURI || !utf8.ValidString(uri) || strings.ContainsAny(uri, "?#") {
		return nil, diag.Errorf(diag.Invalid, "invalid resource URI %.80q", uri)
	}
	segments := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil || decoded == "" || decoded == "." || decoded == ".." || strings.ContainsAny(decoded, "/\\\x00") {
			return nil, diag.Errorf(diag.Invalid, "invalid resource URI %.80q", uri)
		}
		segments[i] = decoded
	}
	return segments, nil
}

// mimeTypes are the media types of files by extension, the same on every system.
var mimeTypes = map[string]string{
	".md": markdownType, ".markdown": markdownType, ".yaml": "application/yaml", ".yml": "application/yaml",
	".py": textType, ".sh": textType, ".txt": textType, ".toml": textType, ".go": textType, ".rb": textType,
	".ts": textType, ".json": jsonType, ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".csv": "text/csv", ".js": "text/javascript", ".mjs": "text/javascript", ".xml": "text/xml",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".pdf": "application/pdf",
}

// mimeType returns the media type of a file by its name, or by its first bytes.
func mimeType(file string, data []byte) string {
	if t := mimeTypes[strings.ToLower(path.Ext(file))]; t != "" {
		return t
	}
	if isText(data) {
		return textType
	}
	base, _, _ := mime.ParseMediaType(http.DetectContentType(data))
	return cmp.Or(base, "application/octet-stream")
}

// isText reports whether bytes are valid text.
func isText(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

// isSkillFile reports whether a path is a skill's SKILL.md.
func isSkillFile(file string) bool { return file == skill.File }
