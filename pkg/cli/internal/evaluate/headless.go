package evaluate

import (
	"os"
	"path/filepath"

	"github.com/skillpm/skillpm/pkg/diag"
)

// headless is how an agent runs a prompt without a terminal. It reads the prompt from standard input.
//
// A run should see only the skill of the evaluation, but the agent needs the user's login. Claude Code can leave out
// the user's settings, skills, and memory. Codex and Gemini CLI read skills from the home directory, so each of their
// runs has another one, with links to the files that have the login and the settings, and with a neutral identity for
// git: the user's configuration may have secrets. Skills that are part of an agent, and those of the machine's
// administrator, stay available.
type headless struct {
	id      string
	program string
	args    []string
	// config is the directory in the home directory to which links lead, moved by the variable configEnv. Without it,
	// a run has the user's home directory.
	config, configEnv string
	links             []string
	prepare           func(home string) (args []string, err error) // may be nil
	event             func(t *transcript, line []byte)             // reads a line of the output
	finish            func(t *transcript, home string)             // reads what the agent wrote; may be nil
}

// headlessAgents are sorted by id.
var headlessAgents = []headless{
	{
		id: "claude-code", program: "claude",
		args: []string{
			"-p", "--output-format", "stream-json", "--verbose", "--setting-sources", "project", "--strict-mcp-config",
			"--no-session-persistence",
		},
		event: claudeEvent,
	},
	{
		id: "codex", program: "codex", args: []string{"exec", "--json", "--skip-git-repo-check"},
		config: ".codex", configEnv: "CODEX_HOME", links: []string{"auth.json", "config.toml"},
		event: codexEvent, finish: codexModel,
	},
	{
		id: "gemini", program: "gemini", args: []string{"--output-format", "stream-json", "--skip-trust"},
		config: ".gemini", links: []string{
			"settings.json", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "installation_id",
			".env",
		},
		prepare: geminiPolicy, event: geminiEvent,
	},
}

// gitConfig lets an agent commit in another home directory.
const gitConfig = "[user]\n\tname = skillpm evaluation\n\temail = evaluation@skillpm.invalid\n"

// fill creates a home directory for a run, and returns the variables and arguments that make the agent use it.
func (h *headless) fill(home, user string, getenv func(string) string) (env map[string]string, args []string,
	err error,
) {
	if h.config == "" {
		return nil, nil, nil
	}
	dir := filepath.Join(home, h.config)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	from := filepath.Join(user, h.config)
	if moved := getenv(h.configEnv); h.configEnv != "" && filepath.IsAbs(moved) {
		from = moved
	}
	for _, name := range h.links {
		target := filepath.Join(from, name)
		if _, err := os.Stat(target); err != nil {
			continue
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			return nil, nil, diag.Errorf(diag.Internal, "cannot link the agent's login into a run: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(gitConfig), 0o600); err != nil {
		return nil, nil, err
	}
	env = map[string]string{"HOME": home, "USERPROFILE": home}
	if h.configEnv != "" {
		env[h.configEnv] = dir
	}
	if h.prepare != nil {
		args, err = h.prepare(dir)
	}
	return env, args, err
}

// geminiPolicy allows Gemini CLI to activate skills. Without a terminal, it does not offer tools that need a
// confirmation.
func geminiPolicy(dir string) ([]string, error) {
	const policy = "[[rule]]\ntoolName = \"activate_skill\"\ndecision = \"allow\"\npriority = 100\n"
	path := filepath.Join(dir, "skillpm-evaluation.toml")
	return []string{"--policy", path}, os.WriteFile(path, []byte(policy), 0o600)
}
