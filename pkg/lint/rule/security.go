package rule

// securityRules are the rules about what is hostile (SEC1xx), what a skill can do (SEC2xx), and what is worth a look (SEC3xx).
var securityRules = []Rule{
	{
		ID: EncryptedArchive, Title: "password-protected archive", Severity: e,
		Why: "A password keeps scanners from looking inside; it is how malware is handed to an agent.",
		Fix: "ship the files as they are",
	},
	{
		ID: Base64Shell, Title: "encoded text is decoded into a shell", Severity: e,
		Why: "What is run cannot be read, which only an attacker needs.",
		Fix: "write the commands in the clear",
	},
	{
		ID: EncodedCommand, Title: "encoded text that is a command", Severity: e,
		Why: "The text decodes to a download or a shell command.",
		Fix: "write the command in the clear",
	},
	{
		ID: RawIPShell, Title: "program from a bare IP address", Severity: e,
		Why: "What is run comes from an address that nobody answers for.",
		Fix: "ship the script in the skill, or name its publisher",
	},
	{
		ID: PasteSite, Title: "link to a paste site", Severity: e,
		Why: "Anybody can put anything there and change it later.",
		Fix: "put the text into the skill",
	},
	{
		ID: TagCharacters, Title: "invisible tag characters", Severity: e,
		Why: "People see nothing, and models read them as text.",
		Fix: "delete the characters",
	},
	{
		ID: BidiControls, Title: "characters that reverse the direction of text", Severity: e,
		Why: "What people see is in another order than what a model or a shell reads.",
		Fix: "delete the characters",
	},
	{
		ID: ZeroWidthRun, Title: "run of invisible characters", Severity: e,
		Why: "Four or more zero-width characters in a row can carry a hidden message.",
		Fix: "delete the characters",
	},
	{
		ID: NativeBinary, Title: "native program", Severity: e,
		Why: "What a compiled program does cannot be read before it runs.",
		Fix: "ship the source, or name the package to install",
	},
	{
		ID: WildcardTools, Title: "allowed-tools allows everything", Severity: e,
		Why: "The skill may then use every tool without asking.",
		Fix: "list the tools that the skill needs",
	},
	{
		ID: Secret, Title: "secret", Severity: e,
		Why: "Everybody who installs the skill has it.",
		Fix: "revoke it, and read it from the environment",
	},
	{
		ID: BlankPadding, Title: "text far below many blank lines", Severity: e,
		Why: "Eighty or more blank lines hide what follows from people.",
		Fix: "remove the blank lines",
	},
	{
		ID: OpaqueArchive, Title: "archive that cannot be looked into", Severity: e,
		Why: "What is in an archive reaches the agent unchecked.",
		Fix: "ship the files as they are",
	},
	{
		ID: CompiledCode, Title: "compiled code", Severity: e,
		Why: "Bytecode runs as a program does, and cannot be read.",
		Fix: "ship the source",
	},
	{
		ID: Scripts, Title: "scripts", Severity: w, Capability: true,
		Why: "An agent that follows the skill runs them with the rights of its user. A fact to know before installing, and no defect.",
		Fix: "read them before you install the skill",
	},
	{
		ID: UnscopedShell, Title: "any shell command is allowed", Severity: w, Capability: true,
		Why: "The skill may run every command without asking.",
		Fix: "allow only the commands that it needs, as in Bash(git:*)",
	},
	{
		ID: Hooks, Title: "hooks", Severity: w, Capability: true,
		Why: "Hooks run without the model having decided it.",
		Fix: "read them before you install the skill",
	},
	{
		ID: MCPServers, Title: "MCP servers", Severity: w, Capability: true,
		Why: "The configuration starts programs or calls servers.",
		Fix: "read it before you install the skill",
	},
	{
		ID: DynamicShell, Title: "command that runs when the skill is loaded", Severity: w, Capability: true,
		Why: "Some hosts run it before the model or a person has seen the text.",
		Fix: "let the agent run it as a step",
	},
	{
		ID: PipeToShell, Title: "download that is run unseen", Severity: w, Capability: true,
		Why: "Whoever controls the address controls the machine. Well-known installers are left out.",
		Fix: "download, check the digest, then run",
	},
	{
		ID: InstallerFirst, Title: "something must be installed first", Severity: w, Capability: true,
		Why: "Asking the agent to install a program before anything else is how malicious skills start.",
		Fix: "name a package of a known registry",
	},
	{
		ID: SkipPermission, Title: "permissions are switched off", Severity: w, Capability: true,
		Why: "The agent, or one that it starts, then asks nobody.",
		Fix: "allow the tools that are needed by name",
	},
	{
		ID: Macros, Title: "office document with macros", Severity: w, Capability: true,
		Why: "Macros are programs that run when somebody opens the document.",
		Fix: "save the document without macros",
	},
	{
		ID: IgnoreInstructions, Title: "asks to ignore instructions", Severity: a,
		Why: "Often harmless, and often part of an attack. Hosts and people should decide what is to be ignored.",
		Fix: "say what is to be done instead",
	},
	{
		ID: HideFromUser, Title: "asks to keep something from the user", Severity: a,
		Why: "Often harmless, and often part of an attack. Users want to know what is done for them.",
		Fix: "leave it out",
	},
	{
		ID: PipeToShellText, Title: "download that is run unseen, in the text", Severity: a,
		Why: "Often harmless, and often part of an attack. Whoever controls the address controls the machine.",
		Fix: "download, check the digest, then run",
	},
	{
		ID: CredentialPath, Title: "place where credentials are kept", Severity: a,
		Why: "Often harmless, and often part of an attack. Few skills need to read them.",
		Fix: "let a tool read its own credentials",
	},
	{
		ID: ReverseShell, Title: "reverse shell", Severity: a,
		Why: "Often harmless, and often part of an attack. Skills for security tests show them.",
		Fix: "say what it is for",
	},
	{
		ID: Shortener, Title: "shortened link", Severity: a,
		Why: "Often harmless, and often part of an attack. Nobody sees where it leads, and it can change.",
		Fix: "write the whole address",
	},
	{
		ID: Sudo, Title: "sudo", Severity: a,
		Why: "Often harmless, and often part of an attack. The command runs with the rights of the administrator.",
		Fix: "say why it is needed",
	},
	{
		ID: HTMLComment, Title: "HTML comment", Severity: a,
		Why: "Often harmless, and often part of an attack. Pages do not show it, and models read it.",
		Fix: "say it in the text, or delete it",
	},
}
