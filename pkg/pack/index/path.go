package index

import (
	"encoding/json"
	"path"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
)

// ConfigPath is the path of the configuration of an index.
const ConfigPath = "config.json"

// FormatVersion is the version of the index format that this package reads and writes.
const FormatVersion = 1

// Path returns the slash-separated path of a pack's file inside an index.
func Path(id pack.ID) string {
	h := textx.SHA256(id.String())[:4]
	return path.Join("packs", h[:2], h[2:], id.Owner, id.Name+".ndjson")
}

// Config is the content of config.json.
type Config struct {
	Version int    `json:"version"`         // the format's version, [FormatVersion]
	Title   string `json:"title,omitempty"` // for people
}

// ParseConfig parses a config.json; name is its name in messages. An unknown version is an error, because the meaning
// of its packs is unknown.
func ParseConfig(name string, data []byte) (*Config, error) {
	var c Config
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, diag.Errorf(diag.Invalid, "invalid index configuration %s: %v", name, err)
	}
	if err := c.check(); err != nil {
		return nil, diag.Errorf(diag.Invalid, "%s: %w", name, err).WithHint("%s", diag.HintOf(err))
	}
	return &c, nil
}

func (c *Config) check() error {
	if c.Version == FormatVersion {
		return nil
	}
	return diag.Errorf(diag.Invalid, "unsupported index format version %d; this skillpm supports version %d",
		c.Version, FormatVersion).
		WithHint("use a newer skillpm")
}

// Encode returns the config.json of c.
func (c *Config) Encode() []byte {
	data, _ := json.MarshalIndent(c, "", "  ") // an int and a string always encode
	return append(data, '\n')
}
