package flow

import (
	"path"
	"strings"
)

func (s *shell) httpie(args []value, in value) value {
	var rest []value
	kind := Downloads
	sent := []value{in}
	for _, a := range args {
		switch text := a.text; {
		case text == "GET" || text == "DELETE" || text == "HEAD" || strings.HasPrefix(text, "-"):
		case text == "POST" || text == "PUT" || text == "PATCH":
			kind = Uploads
		case len(rest) == 0:
			rest = append(rest, a)
		default:
			if strings.Contains(text, "@") && !strings.Contains(text, "=") {
				_, file, _ := strings.Cut(text, "@")
				a = s.readSent(value{text: file, literal: true, from: a.from})
			}
			if strings.Contains(text, "=") {
				kind = Uploads
			}
			sent = append(sent, a)
		}
	}
	return s.fetched("http", kind, rest, sent, nil, false)
}

func (s *shell) ssh(args []value, in value) value {
	p := parseFlags(args, flagSet{"pilFLRDoJbcEeIkmOQSWw", ""})
	if len(p.rest) == 0 {
		return value{}
	}
	text := p.rest[0].text
	host := text[strings.LastIndexByte(text, '@')+1:]
	f := Fact{Kind: Connects, Detail: host, Host: bareHost(host), Client: "ssh", Sure: Likely}
	return value{from: set{s.sink(f, append(p.rest[1:], in)...)}}
}

// cloud evaluates programs that copy files to and from the storage of a service.
func (s *shell) cloud(name string, args []value, in value) value {
	if len(args) > 0 && (args[0].text == "config" || args[0].text == "configure") {
		return value{} // the settings on this machine
	}
	host := map[string]string{
		"aws": "amazonaws.com", "gsutil": "googleapis.com", "gcloud": "googleapis.com",
		"az": "azure.com",
	}[name]
	copies := false
	var last string
	var sent []value
	for _, a := range args {
		switch text := a.text; {
		case text == "cp" || text == "sync" || text == "copy" || text == "mv" || text == "put":
			copies = true
		case copies && text != "" && text[0] != '-':
			last = text
			if !strings.Contains(text, "://") {
				sent = append(sent, s.readSent(a))
			}
		}
	}
	kind := Downloads
	if copies && (strings.Contains(last, "://") || name == "rclone") {
		kind = Uploads
	} else {
		sent = nil
	}
	detail := last
	if !copies {
		detail = ""
		if len(args) > 0 {
			detail = name + " " + args[0].text
		}
	}
	return value{from: set{s.sink(Fact{Kind: kind, Detail: detail, Host: host, Client: name, Sure: Likely},
		append(sent, in)...)}}
}

func (s *shell) git(args []value) value {
	text := " " + joined(args) + " "
	if strings.Contains(text, "http.sslverify=false") || strings.Contains(text, "http.sslVerify=false") ||
		strings.Contains(text, "http.sslVerify false") {
		s.fact(Fact{Kind: Unverified, Detail: "http.sslVerify=false", Client: "git", Sure: Certain})
	}
	args = skipFlags(args, "cC")
	if len(args) == 0 {
		return value{}
	}
	s.fact(Fact{Kind: Runs, Detail: "git", Client: "git", Sure: Certain})
	switch args[0].text {
	case "push":
		if strings.Contains(text, " --force ") || strings.Contains(text, " -f ") || strings.Contains(text,
			" --mirror ") {
			s.fact(Fact{Kind: RewritesGit, Detail: strings.TrimSpace("git" + text), Client: "git", Sure: Certain})
		}
	case "filter-branch", "filter-repo":
		s.fact(Fact{Kind: RewritesGit, Detail: "git " + args[0].text, Client: "git", Sure: Certain})
	case "remote":
		if len(args) > 3 && (args[1].text == "add" || args[1].text == "set-url") {
			url := args[len(args)-1]
			_, host := address(url.text)
			if named, ok := remoteHost(url.text); ok && host == "" {
				host = bareHost(named)
			}
			s.sink(Fact{Kind: Connects, Detail: shownAddress(url.text), Host: host, Client: "git remote", Sure: Likely}, url)
		}
	case "config":
		for _, a := range args[1:] {
			switch key := strings.ToLower(a.text); {
			case key == "core.hookspath" || key == "core.sshcommand" || key == "core.fsmonitor" || key == "core.pager",
				strings.HasSuffix(key, ".insteadof"), strings.HasPrefix(key, "filter.") && strings.Count(key, ".") > 1:
				s.fact(Fact{Kind: Persists, Detail: "git config " + a.text, Client: "git", Sure: Certain})
			}
		}
	case "clone", "fetch", "pull":
		for i, a := range args[1:] {
			if !strings.Contains(a.text, "://") && !strings.HasPrefix(a.text, "git@") {
				continue
			}
			v := s.download(a, "git clone")
			dir := strings.TrimSuffix(a.text[strings.LastIndexByte(a.text, '/')+1:], ".git")
			if i+2 < len(args) && args[i+2].text != "" && args[i+2].text[0] != '-' {
				dir = cleanPath(args[i+2].text)
			}
			s.write(value{text: dir, literal: true}, value{}, "git clone")
			_ = v
			break
		}
	}
	return value{}
}

// decoder evaluates programs that decode their input or a file.
func (s *shell) decoder(name string, args []value, in value) value {
	v := in
	if name == "openssl" {
		text := " " + joined(args) + " "
		for i, a := range args {
			if i > 0 && args[i-1].text == "-in" {
				v = union(v, s.read(a, name))
			}
			if i > 0 && args[i-1].text == "-out" {
				defer func() { s.write(a, v, name) }()
			}
		}
		if strings.Contains(text, " s_client ") {
			for i, a := range args {
				if i > 0 && args[i-1].text == "-connect" {
					return value{from: set{s.sink(Fact{
						Kind: Connects, Detail: a.text, Host: bareHost(a.text),
						Client: "openssl s_client", Sure: Likely,
					}, in)}}
				}
			}
			return value{}
		}
		if strings.Contains(text, " -d ") {
			v = union(v, s.source(Fact{Kind: Decodes, Detail: "openssl", Client: name, Sure: Certain}))
		}
		return value{from: v.from}
	}
	p := parseFlags(args, flagSet{"iowpkKlc", " --wrap "})
	for _, f := range append(p.rest, p.of("-i")...) {
		if f.text != "-" {
			v = union(v, s.read(f, name))
		}
	}
	if p.has("-d", "-D", "--decode", "-r") {
		detail := strings.TrimPrefix(name, "g")
		if name == "xxd" {
			detail = "hex"
		}
		decoded := s.source(Fact{Kind: Decodes, Detail: detail, Client: name, Sure: Certain})
		return value{from: decoded.from.with(v.from), text: decode(detail, v.text)}
	}
	return value{from: s.through("encode", v.from)}
}

func (s *shell) copies(name string, args []value) value {
	p := parseFlags(args, flagSet{"tmogS", " --target-directory "})
	if len(p.rest) < 2 {
		return value{}
	}
	to := p.rest[len(p.rest)-1]
	for _, f := range p.rest[:len(p.rest)-1] {
		content := value{}
		if name != "ln" {
			content = s.read(f, name)
		}
		target := to
		if strings.HasSuffix(to.text, "/") || to.text == "." {
			target = s.join("/", to, value{text: path.Base(cleanPath(f.text)), literal: true})
		}
		s.write(target, content, name)
	}
	return value{}
}

func (s *shell) dd(args []value, in value) value {
	for _, a := range args {
		if from, ok := strings.CutPrefix(a.text, "if="); ok {
			in = s.read(value{text: from, literal: true, from: a.from}, "dd")
		}
	}
	for _, a := range args {
		if to, ok := strings.CutPrefix(a.text, "of="); ok {
			s.write(value{text: to, literal: true, from: a.from}, in, "dd")
			return value{}
		}
	}
	return in
}

func (s *shell) remove(args []value) {
	p := parseFlags(args, flagSet{})
	if !p.has("-r", "-R", "--recursive") {
		return
	}
	for _, a := range p.rest {
		text := strings.ReplaceAll(a.text, `\`, "/")
		switch {
		case strings.HasPrefix(text, "/var/log"):
			s.fact(Fact{Kind: SuppressesLogs, Detail: text, Client: "rm", Sure: Certain})
		case text == "/" && p.has("--preserve-root"):
		case isHome(cleanPath(text)):
			s.fact(Fact{Kind: Deletes, Detail: text, Client: "rm", Sure: Certain})
		case text == "../*" || text == ".." || text == "../" || text == "../..":
			s.fact(Fact{Kind: Deletes, Detail: text, Client: "rm", Sure: Likely})
		case text == "*" || text == "./*" || text == ".":
			s.fact(Fact{Kind: Deletes, Detail: text, Client: "rm", Sure: Possible})
		case strings.HasPrefix(text, "\x00"):
			rest := text[strings.IndexByte(text, 1)+1:]
			if hole, ok := s.holeAt(strings.Trim(text[:len(text)-len(rest)], "\x00\x01")); ok && (rest == "/" ||
				rest == "/*") {
				for _, id := range hole.from {
					if n := s.sum.nodes[id]; n.fact >= 0 && s.sum.facts[n.fact].Kind == ReadsVariable {
						s.fact(Fact{
							Kind: Deletes, Detail: "$" + s.sum.facts[n.fact].Detail + rest, Client: "rm",
							Sure: Possible,
						})
					}
				}
			}
		}
	}
}

// archive evaluates programs that pack files.
func (s *shell) archive(name string, args []value, in value) value {
	var out value
	var target *value
	creates := name == "zip"
	for i, a := range args {
		text := a.text
		flag := strings.HasPrefix(text, "-") || name == "tar" && i == 0
		switch {
		case name == "tar" && flag && !strings.HasPrefix(text, "--"):
			creates = creates || strings.Contains(text, "c")
			if strings.Contains(text, "f") && i+1 < len(args) {
				target = &args[i+1]
			}
		case name == "7z" && i == 0:
			creates = text == "a"
		case flag:
		case name != "tar" && target == nil:
			target = &args[i]
			if name == "gpg" {
				out = union(out, s.read(a, name))
			}
		case target == nil || target != &args[i]:
			if creates {
				out = union(out, s.readSent(a))
			}
		}
	}
	if name == "gpg" {
		return union(out, in)
	}
	if creates && target != nil && target.text != "-" {
		s.write(*target, out, name)
		return value{}
	}
	if target != nil && !creates {
		return s.read(*target, name)
	}
	return union(out, in)
}

// list evaluates programs that list files.
func (s *shell) list(name string, args []value, in value) value {
	out := value{}
	for i, a := range args {
		text := cleanPath(a.text)
		if text == "" || strings.HasPrefix(text, "-") {
			if text == "-exec" && i+2 < len(args) {
				words := args[i+1:]
				for k, w := range words {
					if w.text == ";" || w.text == "+" || w.text == `\;` {
						words = words[:k]
						break
					}
				}
				if len(words) > 0 && words[0].text != "" {
					list := make([]value, len(words))
					for k, w := range words {
						if list[k] = w; w.text == "{}" {
							list[k] = value{from: out.from}
							list[k].text = s.hole(list[k])
						}
					}
					out = union(out, s.run(list, value{}))
				}
				break
			}
			continue
		}
		if i > 0 && strings.HasPrefix(args[i-1].text, "-") && name == "find" {
			continue
		}
		if isHome(text) && name == "find" && strings.HasSuffix(joined(args), " -delete") {
			s.fact(Fact{Kind: Deletes, Detail: text, Client: name, Sure: Certain})
		}
		if isHome(text) && (name == "find" || name == "fd") && text != "/" {
			out = union(out, s.source(Fact{Kind: ReadsHome, Detail: text, Client: name}))
		}
	}
	return out
}
