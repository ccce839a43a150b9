package flow

import (
	"strings"
)

// guards adds facts about arguments that switch off protection, and about programs of administration.
func (s *shell) guards(name string, args []value) {
	add := func(kind Kind, detail string) {
		s.fact(Fact{Kind: kind, Detail: detail, Client: name, Sure: Certain})
	}
	for _, a := range args {
		switch a.text {
		case "--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo",
			"--allow-dangerously-skip-permissions", "--permission-mode=bypassPermissions":
			add(SkipsApproval, a.text)
		}
		switch name {
		case "psql", "mysql", "sqlite3", "mariadb", "sqlcmd", "clickhouse-client", "mongosh", "duckdb":
			if text := strings.ToUpper(a.text); strings.Contains(text, "DROP DATABASE") || strings.Contains(text,
				"DROP SCHEMA") {
				add(DropsDatabase, "DROP DATABASE")
			}
		}
	}
	switch name {
	case "chmod":
		for _, a := range args {
			mode := a.text
			if mode == "777" || mode == "0777" || mode == "a+rwx" || mode == "a=rwx" || mode == "u+s" ||
				mode == "+s" || mode == "g+s" || len(mode) == 4 && mode[0] >= '2' && mode[0] <= '7' &&
				strings.Trim(mode, "01234567") == "" {
				add(Loosens, mode)
			}
		}
	case "dropdb":
		add(DropsDatabase, "dropdb")
	case "mkfs", "wipefs", "mkfs.ext4", "mkfs.xfs", "mkfs.ntfs", "mkfs.vfat":
		for _, a := range args {
			first, whole := isFirstDisk(a.text)
			if isDisk(a.text) && (name == "wipefs" || first && (whole || !s.shown)) {
				add(Wipes, name)
			}
		}
	case "diskutil":
		if text := joined(args); strings.HasPrefix(text, "eraseDisk") || strings.HasPrefix(text, "zeroDisk") {
			add(Wipes, "diskutil "+args[0].text)
		}
	case "shred":
		for _, a := range args {
			if isDisk(a.text) {
				add(Wipes, a.text)
			}
		}
	case "systemctl", "service", "launchctl":
		s.services(name, joined(args))
	case "ufw":
		if joined(args) == "disable" {
			add(DisablesGuard, "ufw disable")
		}
	case "iptables":
		if joined(args) == "-F" {
			add(DisablesGuard, "iptables -F")
		}
	case "setenforce":
		if joined(args) == "0" {
			add(DisablesGuard, "setenforce 0")
		}
	case "spctl":
		if strings.Contains(joined(args), "disable") {
			add(DisablesGuard, "spctl "+joined(args))
		}
	case "csrutil":
		if joined(args) == "disable" {
			add(DisablesGuard, "csrutil disable")
		}
	case "xattr":
		if text := joined(args); strings.Contains(text, "com.apple.quarantine") && strings.Contains(text, "-d") ||
			strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-rc") || strings.HasPrefix(text, "-cr") {
			add(DisablesGuard, "xattr (quarantine)")
		}
	case "history":
		if text := joined(args); strings.HasPrefix(text, "-c") || strings.HasPrefix(text, "-wc") {
			add(SuppressesLogs, "history -c")
		}
	case "visudo", "usermod", "useradd":
		add(Elevates, name)
	case "schtasks":
		if strings.Contains(strings.ToLower(joined(args)), "/create") {
			add(Persists, "scheduled task")
		}
	case "reg":
		if text := strings.ToLower(joined(args)); strings.HasPrefix(text, "add ") && strings.Contains(text,
			`currentversion\run`) {
			add(Persists, "registry Run key")
		}
	case "claude", "codex", "gemini":
		if text := joined(args); strings.HasPrefix(text, "mcp add") {
			add(WritesAgent, name+" mcp add")
		}
	case "npm":
		if text := joined(args); strings.Contains(text, "strict-ssl false") || strings.Contains(text,
			"strict-ssl=false") {
			add(Unverified, "strict-ssl false")
		}
	case "pip", "pip3":
		if strings.Contains(joined(args), "--trusted-host") {
			add(Unverified, "--trusted-host")
		}
	}
}

func (s *shell) services(name, text string) {
	text = " " + text + " "
	for _, guard := range []string{
		"ufw", "firewalld", "apparmor", "auditd", "clamav", "falcon-sensor", "osqueryd",
		"wazuh-agent", "crowdstrike", "mdatp",
	} {
		if strings.Contains(text, guard) && (strings.Contains(text, " stop ") || strings.Contains(text,
			" disable ") || strings.Contains(text, " mask ") || strings.Contains(text, " unload ")) {
			s.fact(Fact{Kind: DisablesGuard, Detail: name + text, Client: name, Sure: Certain})
			return
		}
	}
	if name == "systemctl" && strings.Contains(text, " enable ") || name == "launchctl" && (strings.Contains(text,
		" load ") || strings.Contains(text, " bootstrap ")) {
		s.fact(Fact{Kind: Persists, Detail: name + text, Client: name, Sure: Likely})
	}
}

// isDisk reports whether a path is that of a disk of the machine, or unknown. Volumes of a volume manager are not.
func isDisk(path string) bool {
	name, ok := strings.CutPrefix(path, "/dev/")
	if !ok {
		return strings.HasPrefix(path, "\x00")
	}
	for _, start := range [...]string{"sd", "hd", "nvme", "vd", "xvd", "mmcblk", "disk", "rdisk", "\x00"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}

// isFirstDisk reports whether a device is the usual system disk or a partition of it, and whether it is the whole disk.
// Others are formatted when they are new, and pages show how to format a partition.
func isFirstDisk(device string) (ok, whole bool) {
	name := strings.TrimPrefix(device, "/dev/")
	for _, first := range [...]string{"sda", "hda", "vda", "nvme0n1", "disk0", "mmcblk0"} {
		if strings.HasPrefix(name, first) {
			return true, name == first
		}
	}
	return false, false
}
