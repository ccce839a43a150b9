package rule

// referenceRules are the rules about references between files.
var referenceRules = []Rule{
	{
		ID: Broken, Title: "broken reference", Severity: e,
		Why: "An agent that follows it finds nothing.",
		Fix: "correct the path, or add the file",
	},
	{
		ID: Case, Title: "reference differs in case", Severity: e,
		Why: "It works only on file systems that ignore case.",
		Fix: "write the path as it is on disk",
	},
	{
		ID: Escape, Title: "reference leaves the skill", Severity: e,
		Why: "Only the skill's own directory is installed, so the file is missing there. It is a warning where the file exists here.",
		Fix: "move the file into the skill",
	},
	{
		ID: Anchor, Title: "no such heading", Severity: w,
		Why: "The file exists, but none of its headings has this anchor.",
		Fix: "correct the part after #",
	},
	{
		ID: Backslash, Title: "backslash in a path", Severity: e,
		Why: "Paths in links are written with forward slashes, also on Windows.",
		Fix: "write / instead of \\",
	},
	{
		ID: Absolute, Title: "absolute path", Severity: w,
		Why: "A path from the root of the file system leads elsewhere on every other machine.",
		Fix: "write the path relative to the skill's directory",
	},
	{
		ID: BrokenBelow, Title: "broken reference in a referenced file", Severity: w,
		Why: "An agent that reads the file and follows the reference finds nothing.",
		Fix: "correct the path, or add the file",
	},
	{
		ID: Listed, Title: "listed file does not exist", Severity: e,
		Why: "A file under files: is offered to the model and cannot be loaded.",
		Fix: "correct the path, or add the file",
	},
	{
		ID: ListedForm, Title: "form of a listed path", Severity: e,
		Why: "Paths under files: are relative to the skill, inside it, and without ./ before them. Where the host allows ./ it is no finding.",
		Fix: "write the path relative to the skill's directory",
	},
	{
		ID: Hook, Title: "hook does not exist", Severity: e,
		Why: "The host runs the hook and fails.",
		Fix: "correct the path, or add the script",
	},
	{
		ID: Command, Title: "command does not exist", Severity: e,
		Why: "The skill is executed through this command and fails.",
		Fix: "correct the path, or add the script",
	},
	{
		ID: SpanPath, Title: "path in code does not exist", Severity: w,
		Why: "Agents take a path in a code span for a file of the skill and look for it in vain.",
		Fix: "correct the path, or add the file",
	},
	{
		ID: Orphan, Title: "nothing leads to the file", Severity: a,
		Why: "An agent reads a file only when something tells it to; this one is not mentioned in SKILL.md or in what that leads to.",
		Fix: "mention the file where it is useful, or delete it",
	},
	{
		ID: Deep, Title: "reference through several files", Severity: a,
		Why: "The standard advises that SKILL.md itself mentions every file: agents often read only a part of a file that another one mentions.",
		Fix: "mention the file in SKILL.md",
	},
}
