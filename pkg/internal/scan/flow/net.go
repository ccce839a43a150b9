package flow

import "strings"

// address returns the detail and the host of an address: without user, query, and fragment, which may hold secrets.
// The host is *.example.com if only its beginning is computed, and "" if more is.
func address(text string) (detail, host string) {
	detail = text
	if i := strings.IndexAny(detail, "?#"); i >= 0 {
		detail = detail[:i]
	}
	scheme, rest, ok := strings.Cut(detail, "://")
	if !ok {
		if looksLikeHost(text) {
			return detail, bareHost(text)
		}
		return detail, ""
	}
	name, _, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		detail = scheme + "://" + rest[i+1:]
		name = name[i+1:]
	}
	if i := strings.LastIndexByte(name, 1); i >= 0 { // after the last unknown part
		if name = name[i+1:]; strings.HasPrefix(name, ".") && strings.Count(name, ".") > 1 {
			if host = bareHost(name[1:]); host != "" {
				host = "*." + host
			}
		}
		return detail, host
	}
	return detail, bareHost(name)
}

// metadataHosts give credentials to the programs of a cloud machine.
var metadataHosts = map[string]bool{"169.254.169.254": true, "metadata.google.internal": true, "169.254.170.2": true}

// shownAddress returns an address without what may be secret in it.
func shownAddress(text string) string {
	detail, _ := address(text)
	return detail
}

// request adds a fact of a request, which values reach, and returns the response.
func (r *reader) request(kind Kind, url value, client string, sent ...value) value {
	detail, host := address(url.text)
	f := Fact{Kind: kind, Detail: detail, Host: host, Client: client, Sure: Certain}
	if host == "" {
		f.Sure = Possible
	}
	url.from = r.through("address", url.from)
	id := r.sink(f, append(sent, url)...)
	if metadataHosts[host] && (strings.Contains(detail, "credentials") || strings.Contains(detail,
		"/token")) { // of a cloud machine
		return value{from: set{id, r.fact(Fact{Kind: ReadsKey, Detail: detail, Client: client, Sure: Certain})}}
	}
	return value{from: set{id}}
}

func (r *reader) download(url value, client string, sent ...value) value {
	return r.request(Downloads, url, client, sent...)
}

// flagSet are the flags of a program that take a value.
type flagSet struct{ short, long string } // letters; words with spaces around each

// parsed are the arguments of a command.
type parsed struct {
	flags map[string][]value // by the flag with its dashes; flags without a value have an empty list
	rest  []value
}

func (p parsed) has(names ...string) bool {
	for _, n := range names {
		if _, ok := p.flags[n]; ok {
			return true
		}
	}
	return false
}

func (p parsed) of(names ...string) (all []value) {
	for _, n := range names {
		all = append(all, p.flags[n]...)
	}
	return all
}

// parseFlags splits arguments into flags with their values, and the rest.
func parseFlags(args []value, with flagSet) parsed {
	p := parsed{flags: map[string][]value{}}
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "--":
			p.rest = append(p.rest, args[i+1:]...)
			return p
		case strings.HasPrefix(text, "--"):
			name, val, ok := strings.Cut(text, "=")
			switch {
			case ok:
				v := args[i]
				v.text, v.literal = val, true
				p.flags[name] = append(p.flags[name], v)
			case strings.Contains(with.long, " "+name+" ") && i+1 < len(args):
				i++
				p.flags[name] = append(p.flags[name], args[i])
			default:
				p.flags[name] = append(p.flags[name], []value{}...)
				if p.flags[name] == nil {
					p.flags[name] = []value{}
				}
			}
		case len(text) > 1 && text[0] == '-':
			for k := 1; k < len(text); k++ {
				name := "-" + text[k:k+1]
				if !strings.Contains(with.short, text[k:k+1]) {
					if p.flags[name] == nil {
						p.flags[name] = []value{}
					}
					continue
				}
				if k+1 < len(text) {
					v := args[i]
					v.text, v.literal = strings.TrimPrefix(text[k+1:], "="), true
					p.flags[name] = append(p.flags[name], v)
				} else if i+1 < len(args) {
					i++
					p.flags[name] = append(p.flags[name], args[i])
				}
				break
			}
		default:
			p.rest = append(p.rest, args[i])
		}
	}
	return p
}

var curlFlags = flagSet{
	"dFHuoTXAbceEKmrtUwxyYzCDQP",
	" --data --data-raw --data-binary --data-ascii --data-urlencode --json --form" +
		" --form-string --header --user --output --upload-file --request --user-agent --cookie" +
		" --cookie-jar --referer --cert --key --cacert --config --max-time --connect-timeout" +
		" --proxy --url --retry --retry-delay --write-out --resolve --range --oauth2-bearer" +
		" --aws-sigv4 --output-dir --url-query --retry-max-time --unix-socket --dump-header" +
		" --interface ",
}

// curl reads a command line of curl.
func (s *shell) curl(args []value, in value) value {
	p := parseFlags(args, curlFlags)
	if p.has("-k", "--insecure") {
		s.fact(Fact{Kind: Unverified, Detail: "--insecure", Client: "curl", Sure: Certain})
	}
	kind := Downloads
	var sent []value
	for _, v := range alternatives(p.of("-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json",
		"--data-raw")) {
		kind = Uploads
		sent = append(sent, s.body(v, in))
	}
	for _, v := range alternatives(p.of("-F", "--form", "--form-string")) {
		kind = Uploads
		if _, field, ok := strings.Cut(v.text, "="); ok {
			field, _, _ = strings.Cut(field, ";")
			v.text, v.literal = field, true
		}
		sent = append(sent, s.body(v, in))
	}
	for _, v := range alternatives(p.of("-T", "--upload-file")) {
		kind = Uploads
		v.text = "@" + s.textOf(v)
		sent = append(sent, s.body(v, in))
	}
	for _, v := range p.of("-X", "--request") {
		if m := strings.ToUpper(v.text); m == "POST" || m == "PUT" || m == "PATCH" {
			kind = Uploads
		}
	}
	sent = append(sent, s.headers(p.of("-H", "--header", "-u", "--user", "-b", "--cookie", "--oauth2-bearer")))
	sent = append(sent, p.of("-A", "--user-agent", "-e", "--referer", "--url-query")...)
	if p.has("-G", "--get") {
		kind = Downloads
	}
	return s.fetched("curl", kind, append(p.rest, p.of("--url")...), sent, p.of("-o", "--output"), p.has("-O",
		"--remote-name", "-J"))
}

func (s *shell) headers(values []value) value { return s.header(union(values...)) }

// body returns the content that an argument of curl sends: @file, @- for the input, or the text.
func (s *shell) body(v, in value) value {
	text := v.text
	if !strings.HasPrefix(text, "@") && !strings.HasPrefix(text, "<") {
		if _, after, ok := strings.Cut(text, "@"); ok && strings.HasPrefix(text, "name@") {
			text = "@" + after
		} else {
			return v
		}
	}
	name := text[1:]
	if name == "-" || name == "/dev/stdin" {
		return in
	}
	file := value{text: name, literal: true, from: v.from}
	return s.readSent(file)
}

// readSent reads a file that a command sends. Unlike other files, an ordinary one is a fact.
func (s *shell) readSent(file value) value {
	v := s.read(file, "")
	if _, secret := readKind(cleanPath(file.text)); !secret && file.text != "" && !isHome(file.text) {
		v.from = v.from.with(set{s.fact(Fact{Kind: ReadsFile, Detail: cleanPath(file.text), Sure: Possible})})
	}
	return v
}

// fetched adds the requests of a command, and the files that it writes. It returns the output.
func (s *shell) fetched(client string, kind Kind, urls, sent, outputs []value, remote bool) value {
	var out value
	var requests []value
	for _, u := range urls {
		if text := u.text; text != "" && (strings.Contains(text, "://") || hasHole(text) || looksLikeHost(text) ||
			strings.HasPrefix(text, "localhost")) {
			requests = append(requests, u)
		}
	}
	if len(requests) == 0 && (kind == Uploads || len(urls) > 0) && len(urls) < 3 {
		requests = append(requests, value{from: union(urls...).from})
	}
	for i, u := range requests {
		response := s.request(kind, u, client, sent...)
		switch {
		case i < len(outputs) && outputs[i].text != "-":
			s.write(outputs[i], response, client)
		case remote:
			address, _, _ := strings.Cut(u.text, "?")
			s.write(value{text: address[strings.LastIndexByte(address, '/')+1:], literal: true}, response, client)
		default:
			out = union(out, response)
		}
	}
	return out
}

var wgetFlags = flagSet{
	"OoPUTtQiaB",
	" --output-document --post-data --post-file --header --directory-prefix --method" +
		" --body-data --body-file --user-agent --user --password --timeout --tries --output-file" +
		" --input-file --load-cookies --ca-certificate ",
}

func (s *shell) wget(args []value, in value) value {
	p := parseFlags(args, wgetFlags)
	if p.has("--no-check-certificate") {
		s.fact(Fact{Kind: Unverified, Detail: "--no-check-certificate", Client: "wget", Sure: Certain})
	}
	kind := Downloads
	sent := append(p.of("--user-agent", "-U"), s.headers(p.of("--header", "--user", "--password")))
	if p.has("--post-data", "--body-data", "--post-file", "--body-file") {
		kind = Uploads
		sent = append(sent, p.of("--post-data", "--body-data")...)
		for _, f := range p.of("--post-file", "--body-file") {
			if f.text == "-" || f.text == "/dev/stdin" {
				sent = append(sent, in)
				continue
			}
			sent = append(sent, s.readSent(f))
		}
	}
	outputs := p.of("-O", "--output-document")
	return s.fetched("wget", kind, p.rest, sent, outputs, len(outputs) == 0 && !p.has("--spider"))
}

// socket reads command lines of nc, ncat, socat, and telnet.
func (s *shell) socket(client string, args []value, in value) value {
	var host, port string
	var more set
	for _, a := range args {
		more = more.with(a.from)
		text := a.text
		if kind, rest, ok := strings.Cut(text, ":"); ok && client == "socat" &&
			(strings.HasPrefix(strings.ToLower(kind), "tcp") || strings.HasPrefix(strings.ToLower(kind), "openssl")) {
			text = rest
		}
		switch {
		case text == "" || text[0] == '-' || text == "listen":
		case host == "" && (looksLikeHost(text) || hasHole(text)):
			host = text
		case host != "" && port == "":
			port = text
		}
	}
	p := parseFlags(args, flagSet{"pwesxcXOoTiIq", " --exec --sh-exec "})
	if host == "" {
		if !p.has("-l") {
			return in
		}
		host = "*" // everyone who connects
		for _, v := range append(p.of("-p"), p.rest...) {
			port = v.text
		}
	}
	if p.has("-z") {
		return value{}
	}
	address := host
	if port != "" {
		address += ":" + port
	}
	f := Fact{Kind: Connects, Detail: address, Host: bareHost(host), Client: client, Sure: Certain}
	if hasHole(host) {
		f.Sure = Possible
	}
	id := s.sink(f, in, value{from: more})
	runs := ""
	for _, v := range p.of("-e", "-c", "--exec", "--sh-exec") {
		runs = v.text
	}
	for _, a := range args {
		if _, program, ok := strings.Cut(strings.ToLower(a.text), "exec:"); ok {
			runs = program
		}
	}
	if runs != "" && client != "telnet" {
		s.reach(set{id}, s.fact(Fact{Kind: RunsComputed, Detail: runs, Client: client, Sure: Certain}))
	}
	return value{from: set{id}}
}

// remote reads command lines of scp, rsync, and sftp, which copy files between machines.
func (s *shell) remote(client string, args []value) value {
	p := parseFlags(args, flagSet{"ioPFlcJSe", " --rsh --exclude --include --password-file "})
	if len(p.rest) < 2 {
		return value{}
	}
	last := p.rest[len(p.rest)-1]
	if host, ok := remoteHost(last.text); ok {
		var sent []value
		for _, f := range p.rest[:len(p.rest)-1] {
			sent = append(sent, s.readSent(f))
		}
		f := Fact{Kind: Uploads, Detail: host, Host: bareHost(host), Client: client, Sure: Likely}
		s.sink(f, sent...)
		return value{}
	}
	for _, from := range p.rest[:len(p.rest)-1] {
		if host, ok := remoteHost(from.text); ok {
			v := s.source(Fact{Kind: Downloads, Detail: host, Host: bareHost(host), Client: client})
			s.write(last, v, client)
		} else {
			s.write(last, s.read(from, client), client)
		}
	}
	return value{}
}

// remoteHost returns the host of user@host:path, and whether a path has this form.
func remoteHost(text string) (string, bool) {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "rsync://"), "sftp://")
	host, _, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsAny(host, "/\\") || len(host) < 2 && !hasHole(host) {
		return "", false
	}
	return host[strings.LastIndexByte(host, '@')+1:], true
}
