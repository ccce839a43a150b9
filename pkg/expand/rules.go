package expand

// Rules say which placeholders a host knows.
type Rules struct {
	Indexed   bool              `yaml:"indexed"`   // $ARGUMENTS, $ARGUMENTS[N], $N
	Named     bool              `yaml:"named"`     // $name for what `arguments:` declares
	Variables map[string]string `yaml:"variables"` // ${CLAUDE_SKILL_DIR}: skill-dir, session-id, project-dir or plugin-root
	Shell     bool              `yaml:"shell"`     // !`cmd`
	Append    string            `yaml:"append"`    // "" never, "line", "paragraph": what is done with arguments that no placeholder takes
}
