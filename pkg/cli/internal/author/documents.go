package author

import (
	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/publish/indexer"
)

// initDocument is the output of "init --json".
type initDocument struct {
	Path  string   `json:"path"`  // path of skillpm.yaml
	Evals []string `json:"evals"` // files of the sample evaluations that the command created
}

// newDocument is the output of "new --json".
type newDocument struct {
	Name string `json:"name"` // name of the new skill
	Dir  string `json:"dir"`  // directory of the new skill
}

// keyDocument is the output of "key generate --json".
type keyDocument struct {
	PrivateKey  string `json:"privateKey"`  // file with the private key
	PublicKey   string `json:"publicKey"`   // file with the public key
	Fingerprint string `json:"fingerprint"` // fingerprint of the public key, for comparison by users
	ID          string `json:"id"`          // id of the public key in signatures
	Encrypted   bool   `json:"encrypted"`   // whether a password encrypts the private key
}

// logoutDocument is the output of "logout --json".
type logoutDocument struct {
	Host string `json:"host"` // registry whose credentials were removed
}

// Documents returns what the commands print with --json.
func Documents() []console.Document {
	return []console.Document{
		{Command: "init", Types: []any{initDocument{}}},
		{Command: "new", Types: []any{newDocument{}}},
		{Command: "publish", Types: []any{publish.ReleaseReport{}, publish.PackReport{}, publish.WorkspaceReport{}}},
		{Command: "yank", Types: []any{publish.StatusReport{}}},
		{Command: "sign", Types: []any{publish.SignReport{}}},
		{Command: "key generate", Types: []any{keyDocument{}}},
		{Command: "login", Types: []any{publish.LoginReport{}}},
		{Command: "logout", Types: []any{logoutDocument{}}},
		{Command: "index init", Types: []any{indexer.InitReport{}}},
		{Command: "index add", Types: []any{indexer.AddReport{}}},
		{Command: "index check", Types: []any{indexer.CheckReport{}}},
		{Command: "index build", Types: []any{indexer.BuildReport{}}},
		{Command: "index publish", Types: []any{indexer.ReleaseReport{}}},
		{Command: "index advisory add", Types: []any{indexer.AdvisoryReport{}}},
		{Command: "index advisory check", Types: []any{indexer.AdvisoryCheck{}}},
		{Command: "index advisory publish", Types: []any{indexer.PublishedAdvisories{}}},
		{Command: "index site", Types: []any{indexer.SiteReport{}}},
	}
}
