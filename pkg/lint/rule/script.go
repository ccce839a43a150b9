package rule

// scriptRules are the rules about scripts and data files.
var scriptRules = []Rule{
	{
		ID: Shebang, Title: "no shebang", Severity: w,
		Why: "The system does not know how to run the script. Advice for shell scripts that are perhaps only read by others.",
		Fix: "start it with a line like #!/usr/bin/env bash",
	},
	{
		ID: Executable, Title: "not executable", Severity: w,
		Why: "The skill calls the script by its path, which needs the executable bit. Advice where nothing calls it so.",
		Fix: "chmod +x, and git update-index --chmod=+x",
	},
	{
		ID: ShebangCRLF, Title: "shebang ends with CRLF", Severity: e,
		Why: "The system looks for an interpreter whose name ends with a carriage return.",
		Fix: "save the script with LF line endings",
	},
	{
		ID: ShebangBOM, Title: "byte order mark before the shebang", Severity: e,
		Why: "The system sees no shebang, because the file does not start with #!.",
		Fix: "save the script as UTF-8 without a byte order mark",
	},
	{
		ID: ShebangLine, Title: "shebang is not on the first line", Severity: w,
		Why: "Only a shebang in the first two bytes counts.",
		Fix: "move it to the first line",
	},
	{
		ID: Interpreter, Title: "shebang without an absolute path", Severity: w,
		Why: "The system does not search PATH for the interpreter.",
		Fix: "write #!/usr/bin/env and the interpreter's name",
	},
	{
		ID: CRLF, Title: "CRLF line endings in a shell script", Severity: w, Fixable: true,
		Why: "Shells take the carriage return for a part of the command.",
		Fix: "save the script with LF line endings",
	},
	{
		ID: ShellSyntax, Title: "shell syntax error", Severity: w,
		Why: "The script stops where the shell cannot read it.",
		Fix: "correct the script",
	},
	{
		ID: JSONSyntax, Title: "JSON syntax error", Severity: w,
		Why: "Whatever reads the file fails.",
		Fix: "correct the file",
	},
	{
		ID: YAMLSyntax, Title: "YAML syntax error", Severity: w,
		Why: "Whatever reads the file fails.",
		Fix: "correct the file",
	},
}
