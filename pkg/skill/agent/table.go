package agent

// table is sorted by id. The user directory and the mark are relative to the home directory.
var table = [...]Agent{
	{ID: "adal", Title: "AdaL", Project: ".adal/skills", User: ".adal/skills", Mark: ".adal"},
	{
		ID: "agents", Title: "The shared directory of agents", Project: ".agents/skills", User: ".agents/skills",
		Mark: ".agents",
	},
	{
		ID: "aider-desk", Title: "AiderDesk", Project: ".aider-desk/skills", User: ".aider-desk/skills",
		Mark: ".aider-desk",
	},
	{
		ID: "amp", Title: "Amp", Project: ".agents/skills", User: ".config/agents/skills", Mark: ".config/amp",
		UserEnv: "XDG_CONFIG_HOME",
	},
	{
		ID: "antigravity", Title: "Antigravity", Project: ".agents/skills", User: ".gemini/antigravity/skills",
		Mark: ".gemini/antigravity",
	},
	{ID: "astrbot", Title: "AstrBot", Project: "data/skills", User: ".astrbot/data/skills"},
	{ID: "augment", Title: "Augment", Project: ".augment/skills", User: ".augment/skills", Mark: ".augment"},
	{
		ID: "autohand-code", Title: "Autohand Code CLI", Project: ".autohand/skills", User: ".autohand/skills",
		Mark: ".autohand", UserEnv: "AUTOHAND_HOME",
	},
	{ID: "bob", Title: "IBM Bob", Project: ".bob/skills", User: ".bob/skills", Mark: ".bob"},
	{
		ID: "claude-code", Aliases: "claude", Title: "Claude Code", Project: ".claude/skills", User: ".claude/skills",
		Mark:    ".claude",
		UserEnv: "CLAUDE_CONFIG_DIR", Profile: "claude-code", Tested: "2.1.330",
	},
	{ID: "cline", Title: "Cline", Project: ".agents/skills", User: ".agents/skills", Mark: ".cline"},
	{
		ID: "codearts-agent", Title: "CodeArts Agent", Project: ".codeartsdoer/skills", User: ".codeartsdoer/skills",
		Mark: ".codeartsdoer",
	},
	{ID: "codebuddy", Title: "CodeBuddy", Project: ".codebuddy/skills", User: ".codebuddy/skills", Mark: ".codebuddy"},
	{ID: "codemaker", Title: "Codemaker", Project: ".codemaker/skills", User: ".codemaker/skills", Mark: ".codemaker"},
	{
		ID: "codestudio", Title: "Code Studio", Project: ".codestudio/skills", User: ".codestudio/skills",
		Mark: ".codestudio",
	},
	{
		ID: "codewhale", Title: "CodeWhale", Project: ".codewhale/skills", User: ".codewhale/skills",
		Mark:    ".codewhale",
		UserEnv: "CODEWHALE_HOME",
	},
	{
		ID: "codex", Title: "Codex", Project: ".agents/skills", User: ".agents/skills", Mark: ".codex",
		UserEnv: "CODEX_HOME", Order: "./.agents ./.codex ~/.agents ~/.codex", Unordered: true,
		Tested: "0.169.0",
	},
	{
		ID: "command-code", Title: "Command Code", Project: ".commandcode/skills", User: ".commandcode/skills",
		Mark: ".commandcode",
	},
	{ID: "continue", Title: "Continue", Project: ".continue/skills", User: ".continue/skills", Mark: ".continue"},
	{
		ID: "copilot", Aliases: "github-copilot copilot-cli", Title: "GitHub Copilot", Project: ".agents/skills",
		User: ".copilot/skills", Mark: ".copilot", Order: "./.github ./.agents ./.claude ~/.copilot ~/.agents",
		Tested: "1.0.102",
	},
	{
		ID: "cortex", Title: "Cortex Code", Project: ".cortex/skills", User: ".snowflake/cortex/skills",
		Mark: ".snowflake/cortex",
	},
	{
		ID: "crush", Title: "Crush", Project: ".crush/skills", User: ".config/crush/skills", Mark: ".config/crush",
		UserEnv: "XDG_CONFIG_HOME",
	},
	{
		ID: "cursor", Title: "Cursor", Project: ".agents/skills", User: ".cursor/skills", Mark: ".cursor",
		Order: "./.agents ./.claude ./.cursor ./.codex ~/.agents ~/.claude ~/.cursor ~/.codex", Unordered: true,
	},
	{
		ID: "deepagents", Title: "Deep Agents", Project: ".agents/skills", User: ".deepagents/agent/skills",
		Mark: ".deepagents",
	},
	{
		ID: "devin", Title: "Devin for Terminal", Project: ".devin/skills", User: ".config/devin/skills",
		Mark: ".config/devin", UserEnv: "XDG_CONFIG_HOME",
	},
	{ID: "dexto", Title: "Dexto", Project: ".agents/skills", User: ".agents/skills", Mark: ".dexto"},
	{ID: "droid", Title: "Droid", Project: ".agents/skills", User: ".factory/skills", Mark: ".factory"},
	{ID: "eve", Title: "Eve", Project: "agent/skills"},
	{ID: "firebender", Title: "Firebender", Project: ".agents/skills", User: ".firebender/skills", Mark: ".firebender"},
	{ID: "forgecode", Title: "ForgeCode", Project: ".forge/skills", User: ".forge/skills", Mark: ".forge"},
	{ID: "fx", Title: "fx", Project: ".agents/skills", User: ".agents/skills", Mark: ".fx"},
	{
		ID: "gemini", Aliases: "gemini-cli", Title: "Gemini CLI", Project: ".agents/skills", User: ".gemini/skills",
		Mark: ".gemini", Order: "./.agents ./.gemini ~/.agents ~/.gemini",
		Tested: "0.61.0",
	},
	{
		ID: "goose", Title: "Goose", Project: ".goose/skills", User: ".config/goose/skills", Mark: ".config/goose",
		UserEnv: "XDG_CONFIG_HOME",
	},
	{
		ID: "grok", Title: "Grok Build", Project: ".grok/skills", User: ".grok/skills", Mark: ".grok",
		UserEnv: "GROK_HOME",
	},
	{
		ID: "hermes-agent", Title: "Hermes Agent", Project: ".hermes/skills", User: ".hermes/skills", Mark: ".hermes",
		UserEnv: "HERMES_HOME",
	},
	{ID: "iflow-cli", Title: "iFlow CLI", Project: ".iflow/skills", User: ".iflow/skills", Mark: ".iflow"},
	{
		ID: "inference-sh", Title: "inference.sh", Project: ".inferencesh/skills", User: ".inferencesh/skills",
		Mark: ".inferencesh",
	},
	{ID: "jazz", Title: "Jazz", Project: ".jazz/skills", User: ".jazz/skills", Mark: ".jazz"},
	{ID: "junie", Title: "Junie", Project: ".junie/skills", User: ".junie/skills", Mark: ".junie"},
	{ID: "kilo", Title: "Kilo Code", Project: ".agents/skills", User: ".kilo/skills", Mark: ".kilo"},
	{
		ID: "kimchi", Title: "Kimchi", Project: ".kimchi/skills", User: ".config/kimchi/harness/skills",
		Mark: ".config/kimchi",
	},
	{
		ID: "kimi-code-cli", Title: "Kimi Code CLI", Project: ".agents/skills", User: ".agents/skills",
		Mark: ".kimi-code",
	},
	{ID: "kiro-cli", Title: "Kiro CLI", Project: ".kiro/skills", User: ".kiro/skills", Mark: ".kiro"},
	{ID: "kode", Title: "Kode", Project: ".kode/skills", User: ".kode/skills", Mark: ".kode"},
	{ID: "lingma", Title: "Lingma", Project: ".lingma/skills", User: ".lingma/skills", Mark: ".lingma"},
	{ID: "loaf", Title: "Loaf", Project: ".agents/skills", User: ".agents/skills", Mark: ".loaf"},
	{ID: "mcpjam", Title: "MCPJam", Project: ".mcpjam/skills", User: ".mcpjam/skills", Mark: ".mcpjam"},
	{ID: "minimax-code", Title: "MiniMax Code", Project: ".minimax/skills", User: ".minimax/skills", Mark: ".minimax"},
	{
		ID: "mistral-vibe", Title: "Mistral Vibe", Project: ".vibe/skills", User: ".vibe/skills", Mark: ".vibe",
		UserEnv: "VIBE_HOME",
	},
	{ID: "moxby", Title: "Moxby", Project: ".moxby/skills", User: ".moxby/skills", Mark: ".moxby"},
	{ID: "mux", Title: "Mux", Project: ".mux/skills", User: ".mux/skills", Mark: ".mux"},
	{ID: "neovate", Title: "Neovate", Project: ".neovate/skills", User: ".neovate/skills", Mark: ".neovate"},
	{ID: "ona", Title: "Ona", Project: ".ona/skills", User: ".ona/skills", Mark: ".ona"},
	{ID: "openclaw", Title: "OpenClaw", Project: "skills", User: ".openclaw/skills"},
	{
		ID: "opencode", Title: "OpenCode", Project: ".agents/skills", User: ".config/opencode/skills",
		Mark: ".config/opencode", UserEnv: "XDG_CONFIG_HOME", Unordered: true,
		Order:  "./.opencode ./.agents ./.claude ~/.config/opencode ~/.opencode ~/.claude ~/.agents",
		Tested: "1.18.33",
	},
	{ID: "openhands", Title: "OpenHands", Project: ".openhands/skills", User: ".openhands/skills", Mark: ".openhands"},
	{ID: "pi", Title: "Pi", Project: ".agents/skills", User: ".agents/skills", Mark: ".pi"},
	{ID: "pochi", Title: "Pochi", Project: ".pochi/skills", User: ".pochi/skills", Mark: ".pochi"},
	{
		ID: "posit-assistant", Title: "Posit Assistant", Project: ".posit/assistant/skills",
		User: ".posit/assistant/skills", Mark: ".posit/assistant",
	},
	{ID: "promptscript", Title: "PromptScript", Project: ".agents/skills", Mark: ".promptscript"},
	{ID: "qoder", Title: "Qoder", Project: ".qoder/skills", User: ".qoder/skills", Mark: ".qoder"},
	{ID: "qoder-cn", Title: "Qoder CN", Project: ".qoder/skills", User: ".qoder-cn/skills", Mark: ".qoder-cn"},
	{ID: "qwen-code", Title: "Qwen Code", Project: ".qwen/skills", User: ".qwen/skills", Mark: ".qwen"},
	{ID: "reasonix", Title: "Reasonix", Project: ".reasonix/skills", User: ".reasonix/skills", Mark: ".reasonix"},
	{ID: "replit", Title: "Replit", Project: ".agents/skills", User: ".config/agents/skills", Mark: ".replit"},
	{ID: "roo", Title: "Roo Code", Project: ".roo/skills", User: ".roo/skills", Mark: ".roo"},
	{ID: "rovodev", Title: "Rovo Dev", Project: ".rovodev/skills", User: ".rovodev/skills", Mark: ".rovodev"},
	{
		ID: "sarvam-code", Title: "Sarvam Code", Project: ".agents/skills", User: ".agents/skills", Mark: ".sarvam",
		UserEnv: "SARVAM_HOME",
	},
	{
		ID: "tabnine-cli", Title: "Tabnine CLI", Project: ".tabnine/agent/skills", User: ".tabnine/agent/skills",
		Mark: ".tabnine",
	},
	{ID: "terramind", Title: "Terramind", Project: ".terramind/skills", User: ".terramind/skills", Mark: ".terramind"},
	{ID: "tinycloud", Title: "Tinycloud", Project: ".tinycloud/skills", User: ".tinycloud/skills", Mark: ".tinycloud"},
	{ID: "trae", Title: "Trae", Project: ".trae/skills", User: ".trae/skills", Mark: ".trae"},
	{ID: "trae-cn", Title: "Trae CN", Project: ".trae/skills", User: ".trae-cn/skills", Mark: ".trae-cn"},
	{ID: "vscode", Title: "Visual Studio Code", Project: ".agents/skills", User: ".agents/skills"},
	{ID: "warp", Title: "Warp", Project: ".agents/skills", User: ".agents/skills", Mark: ".warp"},
	{
		ID: "windsurf", Title: "Windsurf", Project: ".windsurf/skills", User: ".codeium/windsurf/skills",
		Mark: ".codeium/windsurf",
	},
	{ID: "zcode", Title: "ZCode", Project: ".zcode/skills", User: ".zcode/skills", Mark: ".zcode"},
	{
		ID: "zed", Title: "Zed", Project: ".agents/skills", User: ".agents/skills", Mark: ".config/zed",
		UserEnv: "XDG_CONFIG_HOME",
	},
	{ID: "zencoder", Title: "Zencoder", Project: ".zencoder/skills", User: ".zencoder/skills", Mark: ".zencoder"},
}
