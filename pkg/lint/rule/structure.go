package rule

// structureRules are the rules about a skill's files and the form of its text.
var structureRules = []Rule{
	{
		ID: FileCase, Title: "SKILL.md in another case", Severity: e,
		Why: "Hosts look for SKILL.md exactly; on Linux they find nothing.",
		Fix: "rename the file to SKILL.md",
	},
	{
		ID: EmptyBody, Title: "no instructions", Severity: w,
		Why: "The skill has frontmatter and no body, so loading it tells the agent nothing.",
		Fix: "write the instructions below the frontmatter",
	},
	{
		ID: ManyLines, Title: "more than 500 lines", Severity: w,
		Why: "The whole body enters the context when the skill is loaded.",
		Fix: "move details into files that SKILL.md links to",
	},
	{
		ID: ManyTokens, Title: "more than 5,000 tokens", Severity: w,
		Why: "The whole body enters the context when the skill is loaded. Tokens are estimated from the characters.",
		Fix: "move details into files that SKILL.md links to",
	},
	{
		ID: OpenFence, Title: "code block is not closed", Severity: w,
		Why: "Everything after the opening fence is code.",
		Fix: "close it with a fence of the same kind and length; around code that has fences itself, use longer ones",
	},
	{
		ID: Nested, Title: "skill inside a skill", Severity: w,
		Why: "A SKILL.md below another skill belongs to that one and is not installed as a skill of its own.",
		Fix: "move it beside the outer skill",
	},
	{
		ID: Link, Title: "symbolic link", Severity: e,
		Why: "Links are refused when a pack is installed, since they can lead out of it.",
		Fix: "put a copy of the file in its place",
	},
	{
		ID: Leftover, Title: "leftover file", Severity: w,
		Why: "The file is not part of the skill and would be published with it.",
		Fix: "delete it, or list it in .skillpmignore",
	},
	{
		ID: Unreadable, Title: "cannot be read", Severity: e,
		Why: "The file could not be read, or is too large to be a SKILL.md.",
		Fix: "look at its permissions and its size",
	},
	{
		ID: ManyEntries, Title: "too many files", Severity: w,
		Why: "The skill has more files than are looked at.",
		Fix: "remove what an agent does not need",
	},
	{
		ID: UnsafePath, Title: "name that cannot be in a pack", Severity: e,
		Why: "Packs are unpacked on every system, so names that one of them forbids or misreads are refused.",
		Fix: "rename the file",
	},
	{
		ID: Complex, Title: "Markdown is too complex", Severity: w,
		Why: "Brackets or lists nested this deep take time that grows with the square of the file's size, so its links are not checked.",
		Fix: "split the paragraph, or nest less",
	},
	{
		ID: FinalNewline, Title: "no newline at the end", Severity: a, Fixable: true,
		Why: "Tools that join files, and diffs, expect the last line to be ended.",
		Fix: "end the file with a newline",
	},
	{
		ID: TotalSize, Title: "skill is too large", Severity: e,
		Why: "The host does not accept a skill of this size.",
		Fix: "remove what an agent does not need, or fetch it when it is needed",
	},
	{
		ID: Collision, Title: "two files of one name", Severity: e,
		Why: "The names differ only in case or in how accents are written; file systems of other machines hold only one of the two.",
		Fix: "rename one of them",
	},
	{
		ID: TooLarge, Title: "file is too large to be looked into", Severity: w,
		Why: "What cannot be read cannot be checked, and an agent that opens it fills its context.",
		Fix: "split the file, or leave it out of the skill",
	},
}
