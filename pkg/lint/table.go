package lint

import "github.com/skillpm/skillpm/pkg/diag"

const (
	e = diag.SeverityError
	w = diag.SeverityWarning
)

// rules is the table of all rules, in order of id.
var rules = [...]Rule{
	{
		ruleNoFrontmatter, "no frontmatter", e,
		"Hosts read a skill's name and description from the frontmatter; without it they do not see the skill.",
		"start SKILL.md with ---, name: and description: each on a line, and --- again",
	},
	{
		ruleUnclosed, "frontmatter is not closed", e,
		"Without the closing line hosts take the whole file for YAML, or see no frontmatter.",
		"put --- on a line of its own after the last field",
	},
	{
		ruleBadYAML, "invalid YAML", e,
		"A host that cannot read the YAML drops the skill.",
		"put values with a colon, a quote or a bracket in double quotes",
	},
	{
		ruleTab, "tab in YAML", e,
		"YAML forbids tabs for indentation, so hosts drop the skill.",
		"indent with spaces",
	},
	{
		ruleNotMapping, "frontmatter has no fields", e,
		"Hosts expect a field a line, as in name: my-skill.",
		"write one field a line, as in name: my-skill",
	},
	{
		ruleDuplicateKey, "key is there twice", e,
		"Some hosts refuse the file, the others differ in which of the two they take.",
		"keep one of the two",
	},
	{
		ruleBOM, "byte order mark", w,
		"Hosts that look for --- in the first bytes do not find it.",
		"save the file as UTF-8 without a byte order mark",
	},
	{
		ruleLeadingText, "text before the frontmatter", e,
		"Frontmatter counts only when the file starts with it.",
		"let the file start with ---",
	},
	{
		ruleNotUTF8, "not UTF-8", e,
		"Skills are UTF-8; other bytes reach the model as rubbish, or the file is refused.",
		"save the file as UTF-8",
	},
	{
		ruleMissing, "required field is missing", e,
		"The host does not accept a skill without it.",
		"add the field",
	},
	{
		ruleUnknown, "unknown field", w,
		"Hosts ignore fields that they do not know, so a misspelt one has no effect.",
		"correct the spelling, or move it below metadata:",
	},
	{
		ruleOtherHost, "field of another host", diag.SeverityAdvice,
		"The field has an effect only in the hosts that know it.",
		"keep it if the skill is for those hosts",
	},
	{
		ruleType, "wrong type", e,
		"The host expects another kind of value and refuses the skill or misreads the field.",
		"write a value of the right kind",
	},
	{
		ruleValue, "value is not allowed", e,
		"The field allows only certain values.",
		"use one of the allowed values",
	},
	{
		ruleTooLong, "value is too long", e,
		"Hosts refuse or cut longer values. Characters are counted, not bytes.",
		"shorten it",
	},
	{
		ruleEmpty, "field has no value", e,
		"A required field without a value is as good as missing. For optional fields this is a warning.",
		"give it a value, or remove the field",
	},
	{
		ruleName, "illegal name", e,
		"A name is 1 to 64 of a-z, 0-9 and hyphens, with no hyphen at an end and no two in a row.",
		"use lower-case letters, digits and single hyphens",
	},
	{
		ruleNameDirectory, "name differs from the directory", e,
		"The standard demands that they are equal, and hosts differ in which of the two they use.",
		"give both the same name",
	},
	{
		ruleToolForm, "form of allowed-tools", w,
		"The form of the list differs from what the host documents; some hosts then read it as one tool's name.",
		"write the tools as the host documents it",
	},
	{
		ruleMetadataText, "metadata value is not text", w,
		"Metadata maps text to text; an unquoted number or date may be changed when it is read, as 1.10 to 1.1.",
		"put the value in double quotes",
	},
	{
		ruleCombination, "field without the one that it needs", e,
		"The field has no meaning without another one.",
		"add the other field, or remove this one",
	},
	{
		ruleSchema, "does not match the schema", e,
		"The frontmatter breaks the host's schema.",
		"see `skillpm schema`",
	},
	{
		ruleRecommended, "recommended field is missing", w,
		"The host takes something else in its place, which seldom says when to use the skill.",
		"add the field",
	},
	{
		ruleListing, "listing is cut off", w,
		"The host shows the model only the first part of these fields when it chooses a skill.",
		"say the most important things first, and less",
	},
	{
		ruleSameName, "two skills of one name", e,
		"Only one of them can be installed. Outside of a pack, where the two may be meant for different places, it is a warning.",
		"rename one of them",
	},
	{
		ruleSameDescribe, "two skills of one description", w,
		"The model chooses by the description and cannot tell them apart.",
		"say in each what the other does not do",
	},
	{
		ruleBroken, "broken reference", e,
		"An agent that follows it finds nothing.",
		"correct the path, or add the file",
	},
	{
		ruleCase, "reference differs in case", e,
		"It works only on file systems that ignore case.",
		"write the path as it is on disk",
	},
	{
		ruleEscape, "reference leaves the skill", e,
		"Only the skill's own directory is installed, so the file is missing there. It is a warning where the file exists here.",
		"move the file into the skill",
	},
	{
		ruleAnchor, "no such heading", w,
		"The file exists, but none of its headings has this anchor.",
		"correct the part after #",
	},
	{
		ruleBackslash, "backslash in a path", e,
		"Paths in links are written with forward slashes, also on Windows.",
		"write / instead of \\",
	},
	{
		ruleAbsolute, "absolute path", w,
		"A path from the root of the file system leads elsewhere on every other machine.",
		"write the path relative to the skill's directory",
	},
	{
		ruleBrokenBelow, "broken reference in a referenced file", w,
		"An agent that reads the file and follows the reference finds nothing.",
		"correct the path, or add the file",
	},
	{
		ruleListed, "listed file does not exist", e,
		"A file under files: is offered to the model and cannot be loaded.",
		"correct the path, or add the file",
	},
	{
		ruleListedForm, "form of a listed path", e,
		"Paths under files: are relative to the skill, inside it, and without ./ before them. Where the host allows ./ it is no finding.",
		"write the path relative to the skill's directory",
	},
	{
		ruleHook, "hook does not exist", e,
		"The host runs the hook and fails.",
		"correct the path, or add the script",
	},
	{
		ruleCommand, "command does not exist", e,
		"The skill is executed through this command and fails.",
		"correct the path, or add the script",
	},
	{
		ruleShebang, "no shebang", w,
		"The system does not know how to run the script. Advice for shell scripts that are perhaps only read by others.",
		"start it with a line like #!/usr/bin/env bash",
	},
	{
		ruleExecutable, "not executable", w,
		"The skill calls the script by its path, which needs the executable bit. Advice where nothing calls it so.",
		"chmod +x, and git update-index --chmod=+x",
	},
	{
		ruleShebangCRLF, "shebang ends with CRLF", e,
		"The system looks for an interpreter whose name ends with a carriage return.",
		"save the script with LF line endings",
	},
	{
		ruleShebangBOM, "byte order mark before the shebang", e,
		"The system sees no shebang, because the file does not start with #!.",
		"save the script as UTF-8 without a byte order mark",
	},
	{
		ruleShebangLine, "shebang is not on the first line", w,
		"Only a shebang in the first two bytes counts.",
		"move it to the first line",
	},
	{
		ruleInterpreter, "shebang without an absolute path", w,
		"The system does not search PATH for the interpreter.",
		"write #!/usr/bin/env and the interpreter's name",
	},
	{
		ruleFileCase, "SKILL.md in another case", e,
		"Hosts look for SKILL.md exactly; on Linux they find nothing.",
		"rename the file to SKILL.md",
	},
	{
		ruleEmptyBody, "no instructions", w,
		"The skill has frontmatter and no body, so loading it tells the agent nothing.",
		"write the instructions below the frontmatter",
	},
	{
		ruleManyLines, "more than 500 lines", w,
		"The whole body enters the context when the skill is loaded.",
		"move details into files that SKILL.md links to",
	},
	{
		ruleManyTokens, "more than 5,000 tokens", w,
		"The whole body enters the context when the skill is loaded. Tokens are estimated from the characters.",
		"move details into files that SKILL.md links to",
	},
	{
		ruleOpenFence, "code block is not closed", w,
		"Everything after the opening fence is code.",
		"close it with a fence of the same kind and length; around code that has fences itself, use longer ones",
	},
	{
		ruleNested, "skill inside a skill", w,
		"A SKILL.md below another skill belongs to that one and is not installed as a skill of its own.",
		"move it beside the outer skill",
	},
	{
		ruleLink, "symbolic link", e,
		"Links are refused when a pack is installed, since they can lead out of it.",
		"put a copy of the file in its place",
	},
	{
		ruleLeftover, "leftover file", w,
		"The file is not part of the skill and would be published with it.",
		"delete it, or list it in .skillpmignore",
	},
	{
		ruleUnreadable, "cannot be read", e,
		"The file could not be read, or is too large to be a SKILL.md.",
		"look at its permissions and its size",
	},
	{
		ruleManyEntries, "too many files", w,
		"The skill has more files than are looked at.",
		"remove what an agent does not need",
	},
	{
		ruleUnsafePath, "name that cannot be in a pack", e,
		"Packs are unpacked on every system, so names that one of them forbids or misreads are refused.",
		"rename the file",
	},
	{
		ruleComplex, "Markdown is too complex", w,
		"Brackets or lists nested this deep take time that grows with the square of the file's size, so its links are not checked.",
		"split the paragraph, or nest less",
	},
}
