package install

import (
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// configDocument is the output of "config list --json".
type configDocument struct {
	File     string    `json:"file"`     // path of the user's settings file
	Settings []setting `json:"settings"` // settings in the order of the file
}

// configChange is the output of "config set --json".
type configChange struct {
	File    string `json:"file"`    // path of the user's settings file
	Key     string `json:"key"`     // name of the setting
	Changed bool   `json:"changed"` // whether the command changed the file
}

// configPath is the output of "config path --json".
type configPath struct {
	Path string `json:"path"` // path of the user's settings file, which may not exist
}

// mergeDriver is the output of "config merge-driver --json".
type mergeDriver struct {
	Driver     string `json:"driver"`     // command that git runs
	Attributes string `json:"attributes"` // path of the project's .gitattributes; "" if there is no project
	Changed    bool   `json:"changed"`    // whether the command changed a file
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{
			Command: "install", Others: []string{"remove", "update", "link"}, Types: []any{skillpm.InstallReport{}},
		},
		{Command: "audit", Types: []any{skillpm.AuditReport{}}},
		{Command: "outdated", Types: []any{skillpm.OutdatedReport{}}},
		{Command: "list", Types: []any{skillpm.ListReport{}}},
		{Command: "info", Types: []any{skillpm.Info{}, publish.SignaturesReport{}}},
		{Command: "search", Types: []any{skillpm.SearchReport{}}},
		{Command: "diff", Types: []any{skillpm.DiffReport{}}},
		{Command: "why", Types: []any{skillpm.WhyReport{}}},
		{Command: "verify", Types: []any{skillpm.VerifyReport{}}},
		{Command: "import", Types: []any{skillpm.ImportReport{}}},
		{Command: "try", Types: []any{skillpm.Trial{}}},
		{Command: "tree", Types: []any{skillpm.GraphReport{}}},
		{Command: "vendor", Types: []any{skillpm.VendorReport{}}},
		{Command: "registry list", Types: []any{skillpm.RegistryList{}}},
		{
			Command: "registry add", Others: []string{"registry bind", "registry remove"},
			Types: []any{skillpm.RegistryChange{}},
		},
		{Command: "cache path", Types: []any{skillpm.CachePaths{}}},
		{Command: "cache list", Types: []any{skillpm.CacheList{}}},
		{Command: "cache verify", Types: []any{skillpm.CacheCheck{}}},
		{Command: "cache gc", Types: []any{skillpm.CacheFreed{}}},
		{Command: "doctor", Types: []any{skillpm.DoctorReport{}}},
		{Command: "config list", Types: []any{configDocument{}}},
		{Command: "config get", Types: []any{setting{}}},
		{Command: "config set", Types: []any{configChange{}}},
		{Command: "config merge-driver", Types: []any{mergeDriver{}}},
		{Command: "config sync", Types: []any{skillpm.UserSyncReport{}}},
		{Command: "config path", Types: []any{configPath{}}},
	}
}
