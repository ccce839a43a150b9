package enterprise

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// record is what this machine knows about the list of its layer. It is written in the same transaction as the layer.
type record struct {
	Version  int      `json:"version"`  // of this format: 1
	Source   string   `json:"source"`   // of the list, as a lock would have it
	Name     string   `json:"name"`     // as the list calls itself
	Release  string   `json:"release"`  // the list's version
	Resolved string   `json:"resolved"` // the commit, or the manifest's digest
	Signers  []string `json:"signers"`
	// what the list brought, by path in the administrator's directory -> SHA-256 digest
	Files   map[string]string `json:"files"`
	Changed time.Time         `json:"changed"` // when this list came into force
	Checked time.Time         `json:"checked"` // when the source was last found to have nothing newer
}

// recordVersion is the version of the format.
const recordVersion = 1

// readRecord returns the record of the layer, nil if there was never a sync.
func (c *Client) readRecord() (*record, error) {
	file := filepath.Join(c.Paths.Enterprise, RecordName)
	data, err := safefile.ReadOptional(file)
	if err != nil || data == nil {
		return nil, err
	}
	var r record
	err = json.Unmarshal(data, &r)
	if err == nil && r.Version > recordVersion {
		return nil, diag.Errorf(diag.Invalid, "a newer version of skillpm wrote %s in format %d", file, r.Version).
			WithHint("use a newer skillpm")
	}
	if err != nil || r.Version != recordVersion {
		return nil, diag.Errorf(diag.Invalid, "cannot identify the current fleet list: %s is damaged", file).
			WithHint("check that nobody restored an old state of this machine, " +
				"then remove the file and run \"sudo skillpm enterprise sync\"")
	}
	return &r, nil
}

func (r *record) encode() []byte {
	data, _ := json.MarshalIndent(r, "", "  ") // strings, numbers and times always encode
	return append(data, '\n')
}

// write replaces the record if nothing else changed.
func (r *record) write(dir string) error {
	return atomicfile.Write(filepath.Join(dir, RecordName), r.encode(), atomicfile.Options{Mode: 0o644, Sync: true})
}
