package site

import (
	"archive/tar"
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// The path and format of the discovery index of Agent Skills, version 0.2.0.
const (
	WellKnown       = ".well-known/agent-skills/"
	wellKnownSchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
	maxDescription  = 1024 // maximum length that readers accept, in characters
	archiveLevel    = 6    // gzip level; digests depend on it
)

// File is a file of a skill.
type File struct {
	Path       string // slash-separated, relative to the skill
	Executable bool
	Data       []byte
}

// The types of artifacts in the discovery index: a file SKILL.md, and an archive with SKILL.md at its root.
const (
	typeFile    = "skill-md"
	typeArchive = "archive"
)

// Discovered is an entry of the discovery index.
type Discovered struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"`    // relative to the index
	Digest      string `json:"digest"` // of the bytes at URL

	Pack    pack.ID `json:"-"` // that has the skill
	Skill   string  `json:"-"` // its name there
	Version string  `json:"-"` // of the pack
}

// Discover writes the artifact of a skill, and returns its entry of the discovery index. The same files give the same
// bytes.
func Discover(name, description string, files []File, w Write) (Discovered, error) {
	d := Discovered{Name: name, Type: typeArchive, Description: short(description, maxDescription-1)}
	var data []byte
	var err error
	if len(files) == 1 && files[0].Path == "SKILL.md" {
		d.Type, data = typeFile, files[0].Data
	} else if data, err = archive(files); err != nil {
		return Discovered{}, err
	}
	d.Digest = "sha256:" + textx.SHA256(data)
	return d, w(d.Artifact(), data)
}

// address returns the address of the artifact, relative to the discovery index.
func (d *Discovered) address() string {
	if d.Type == typeFile {
		return d.Name + "/SKILL.md"
	}
	return d.Name + ".tar.gz"
}

// Artifact returns the path of the artifact.
func (d *Discovered) Artifact() string { return WellKnown + d.address() }

// WriteDiscovery writes the discovery index.
func WriteDiscovery(skills []Discovered, w Write) error {
	sorted := slices.SortedFunc(slices.Values(skills),
		func(a, b Discovered) int { return strings.Compare(a.Name, b.Name) })
	if sorted == nil {
		sorted = []Discovered{}
	}
	for i := range sorted {
		sorted[i].URL = sorted[i].address()
	}
	return writeJSON(w, WellKnown+"index.json", struct {
		Schema string       `json:"$schema"`
		Skills []Discovered `json:"skills"`
	}{wellKnownSchema, sorted})
}

// archive returns files as a gzip-compressed tar, sorted by path, without times and owners.
func archive(files []File) ([]byte, error) {
	var out bytes.Buffer
	zip := zippers().Get().(*gzip.Writer)
	defer zippers().Put(zip)
	zip.Reset(&out)
	archive := tar.NewWriter(zip)
	for _, f := range slices.SortedFunc(slices.Values(files),
		func(a, b File) int { return strings.Compare(a.Path, b.Path) }) {
		mode := int64(0o644)
		if f.Executable {
			mode = 0o755
		}
		if err := archive.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: f.Path, Size: int64(len(f.Data)),
			Mode: mode,
		}); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.Data); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	err := zip.Close()
	return out.Bytes(), err
}

// zippers pools compressors, which take most of a megabyte each.
var zippers = sync.OnceValue(func() *sync.Pool {
	return &sync.Pool{New: func() any {
		zip, _ := gzip.NewWriterLevel(nil, archiveLevel) // the level is valid
		return zip
	}}
})
