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

// maxURI is how many bytes the address of a resource has at most.
const maxURI = 8 << 10

// The types of resources that are no files of their own.
const (
	markdownType  = "text/markdown"
	directoryType = "inode/directory"
	jsonType      = "application/json"
	textType      = "text/plain"
)

// baseOf returns where a skill's resources are: below its pack, or its layer, by the name that its frontmatter has.
func baseOf(k *catalog.Skill) string {
	return address(append(strings.Split(cmp.Or(k.Pack, k.Layer), "/"), declared(k)))
}

// address returns the address that is made of segments.
func address(segments []string) string {
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	return skillScheme + strings.Join(escaped, "/")
}

// uriOf returns the address of a skill's file, "." for its directory.
func uriOf(k *catalog.Skill, file string) string {
	if file == "." {
		return baseOf(k)
	}
	return baseOf(k) + "/" + strings.TrimPrefix(address(strings.Split(file, "/")), skillScheme)
}

// readable returns the skills in force that programs may read for a model, in order. Of two with one address the first
// counts.
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

// resolve returns the skill and the file that an address means, "." for the skill's directory. The error has code
// NotFound for one that there is not, and Invalid for what is none.
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
	return nil, "", diag.Errorf(diag.NotFound, "there is no resource %q", uri)
}

// split returns the segments of an address. One that leads elsewhere, in any spelling, is refused.
func split(uri string) ([]string, error) {
	rest, ok := strings.CutPrefix(uri, skillScheme)
	if !ok || len(uri) > maxURI || !utf8.ValidString(uri) || strings.ContainsAny(uri, "?#") {
		return nil, diag.Errorf(diag.Invalid, "that is not the address of a skill's resource")
	}
	segments := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil || decoded == "" || decoded == "." || decoded == ".." || strings.ContainsAny(decoded, "/\\\x00") {
			return nil, diag.Errorf(diag.Invalid, "that is not the address of a skill's resource")
		}
		segments[i] = decoded
	}
	return segments, nil
}

// mimeTypes are the types of files by their extensions, the same on every system.
var mimeTypes = map[string]string{
	".md": markdownType, ".markdown": markdownType, ".yaml": "application/yaml", ".yml": "application/yaml",
	".py": textType, ".sh": textType, ".txt": textType, ".toml": textType, ".go": textType, ".rb": textType,
	".ts": textType, ".json": jsonType, ".html": "text/html", ".htm": "text/html", ".css": "text/css",
	".csv": "text/csv", ".js": "text/javascript", ".mjs": "text/javascript", ".xml": "text/xml",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
	".pdf": "application/pdf",
}

// mimeType returns the type of a file by its name, or by how it begins.
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

// isText reports whether bytes can be handed over as a text.
func isText(data []byte) bool { return utf8.Valid(data) && !bytes.ContainsRune(data, 0) }

// isSkillFile reports whether a path is that of a skill's instructions.
func isSkillFile(file string) bool { return file == skill.File }
