package flow

import "strings"

// clients are the libraries for HTTP, by the first part of their names.
var clients = map[string]bool{
	"requests": true, "httpx": true, "aiohttp": true, "urllib3": true, "urllib": true, "axios": true, "got": true,
	"superagent": true, "ky": true, "needle": true, "undici": true, "node-fetch": true, "cross-fetch": true,
	"http": true, "https": true, "fetch": true, "Net": true, "URI": true, "HTTParty": true, "Faraday": true,
	"httplib2": true,
	"request":  true, "cloudscraper": true, "curl_cffi": true, "Excon": true, "RestClient": true, "grequests": true,
}

// otherClients are the first parts of the names of further functions that connect.
var otherClients = map[string]bool{
	"socket": true, "net": true, "tls": true, "dgram": true, "TCPSocket": true, "WebSocket": true, "websocket": true,
	"websockets": true, "ws": true, "paramiko": true, "UDPSocket": true, "smtplib": true, "nodemailer": true,
	"yagmail": true, "Mail": true, "ftplib": true, "boto3": true, "navigator": true, "XMLHttpRequest": true,
	"window": true, "globalThis": true, "self": true, "logging": true,
}

// network evaluates functions that connect.
func (c *code) network(name, root, last string, receiver value, args []arg) (value, bool) {
	root = strings.TrimSuffix(root, "()")
	if !clients[root] && !otherClients[root] {
		return value{}, false
	}
	values := valuesOf(args)
	switch root {
	case "socket", "net", "tls", "dgram", "TCPSocket", "WebSocket", "websocket", "websockets", "ws", "paramiko",
		"UDPSocket":
		return c.socketCall(name, root, last, receiver, args)
	case "smtplib", "nodemailer", "yagmail", "Mail":
		switch last {
		case "SMTP", "SMTP_SSL", "createTransport":
			v := argOf(args, 0, "host")
			if f, ok := v.field("host"); ok {
				v = f
			}
			return value{name: root + "." + last + "()", text: v.text}, true
		case "sendmail", "send_message", "sendMail", "send", "deliver":
			c.sink(Fact{
				Kind: Mails, Detail: receiver.text, Host: bareHost(receiver.text), Client: root + "." + last,
				Sure: Likely,
			}, values...)
			return value{}, true
		}
		return value{name: name + "()", text: receiver.text, from: union(values...).from}, true
	case "ftplib":
		switch last {
		case "FTP", "FTP_TLS":
			return value{name: root + "." + last + "()", text: argOf(args, 0, "host").text}, true
		case "storbinary", "storlines":
			c.sink(Fact{
				Kind: Uploads, Detail: receiver.text, Host: bareHost(receiver.text), Client: "ftplib",
				Sure: Likely,
			}, values...)
			return value{}, true
		case "retrbinary":
			return c.source(Fact{
				Kind: Downloads, Detail: receiver.text, Host: bareHost(receiver.text),
				Client: "ftplib",
			}), true
		}
	case "boto3":
		switch last {
		case "client", "resource", "Session":
			return value{name: "boto3.client()"}, true
		case "upload_file", "upload_fileobj", "put_object", "publish", "send_message", "invoke":
			sent := union(values...)
			if last == "upload_file" {
				v := c.read(argOf(args, 0, "Filename"), name)
				sent = union(sent, v)
			}
			c.sink(Fact{Kind: Uploads, Host: "amazonaws.com", Client: "boto3." + last, Sure: Likely}, sent)
			return value{}, true
		}
		return value{name: "boto3.client()", from: union(values...).from}, true
	case "logging":
		return c.logging(last, receiver, args)
	case "navigator":
		if last == "sendBeacon" {
			return c.request(Uploads, argOf(args, 0), name, values...), true
		}
	case "XMLHttpRequest":
		if last == "open" {
			return c.request(Downloads, argOf(args, 1), name, values...), true
		}
		if last == "send" && len(args) > 0 {
			return c.request(Uploads, value{}, name, values...), true
		}
	case "window", "globalThis", "self":
		if last != "fetch" {
			return value{}, false
		}
		root = "fetch"
	}
	if !clients[root] || ambiguous(root) && !c.imported(root) {
		return value{}, false
	}
	if root == "URI" && last != "open" || root == "fetch" && strings.Contains(name, "().") {
		return value{}, false
	}
	kind, ok := requestKind(c.lang, root, last, name)
	switch {
	case strings.HasSuffix(name, ".parse.quote") || strings.Contains(name, ".parse."):
		return value{}, false
	case root == "http" && (strings.Contains(name, "server") || strings.Contains(name, "cookie")):
		return value{}, false
	case last == "createServer" || last == "Agent":
		return value{}, true
	case constructs(last):
		v := argOf(args, 0, "base_url", "url", "host")
		for _, key := range []string{"baseURL", "prefixUrl", "url"} {
			if f, ok := v.field(key); ok {
				v = f
			}
		}
		out := value{name: root + "." + last + "()", text: v.text, from: union(values...).from}
		out.post = last == "Request" && (hasArg(args, "data") || len(args) > 1 && args[1].key == "")
		return out, true
	case !ok && (last == "write" || last == "end" || last == "send" || last == "field" || last == "attach"):
		for _, id := range receiver.from { // the body of a request that was begun
			if n := c.sum.nodes[id]; n.fact >= 0 {
				switch f := &c.sum.facts[n.fact]; f.Kind {
				case Downloads, Uploads:
					f.Kind = Uploads
					c.reach(union(values...).from, id)
				}
			}
		}
		return receiver, true
	case !ok:
		return value{}, false
	}
	return c.requested(kind, name, receiver, args), true
}

// constructs reports whether a function makes a client or a request that is not sent yet.
func constructs(last string) bool {
	switch last {
	case "Session", "Client", "AsyncClient", "ClientSession", "PoolManager", "create", "extend", "Request",
		"HTTPSConnection", "HTTPConnection", "session", "create_scraper", "Http":
		return true
	}
	return false
}

// requestKind returns the kind of the fact of a function that sends a request, and whether it does.
func requestKind(lang Language, root, last, name string) (Kind, bool) {
	switch last {
	case "get", "head", "options", "delete", "urlopen", "urlretrieve", "stream", "request", "fetch", "open",
		"ws_connect", "send", "Get", "getstore", "URLopener", "get_response":
		if last == "send" && root != "requests" && root != "httpx" || last == "open" && root != "URI" {
			return 0, false
		}
		return Downloads, true
	case "post", "put", "patch", "post_form", "Post":
		return Uploads, true
	}
	if lang == JavaScript && (name == root || last == root) && root != "http" && root != "https" && root != "URI" {
		return Downloads, true
	}
	return 0, false
}

// requested adds the fact of a request.
func (c *code) requested(kind Kind, name string, receiver value, args []arg) value {
	url := argOf(args, 0, "url", "uri")
	rest := args
	if m := strings.ToUpper(url.text); m == "GET" || m == "POST" || m == "PUT" || m == "PATCH" || m == "DELETE" ||
		m == "HEAD" {
		if m == "POST" || m == "PUT" || m == "PATCH" {
			kind = Uploads
		}
		url = argOf(args, 1, "url")
		if len(args) > 0 {
			rest = args[1:]
		}
	}
	for _, key := range []string{"url", "hostname", "host", "uri"} {
		if f, ok := url.field(key); ok {
			from := url.from
			url.text = f.text
			url.from = from.with(f.from)
			break
		}
	}
	_, last := ends(name)
	if receiver.text != "" && !strings.Contains(url.text, "://") {
		base := receiver
		if !strings.Contains(base.text, "://") {
			base.text = "https://" + base.text
		}
		url.text = strings.TrimPrefix(c.textOf(url), "/")
		url = c.join("/", base, url)
	}
	if !strings.Contains(url.text, "://") && looksLikeHost(url.text) {
		url.text = "https://" + url.text
	}
	var sent []value
	for i, a := range rest {
		if a.key != "url" && (i > 0 || a.key != "" || a.v.partsOrEmpty().fields != nil) {
			sent = append(sent, a.v)
		}
		switch a.key {
		case "data", "json", "files", "content", "body", "fields":
			kind = Uploads
		}
		url, _ := a.v.field("url")
		if a.v.post && (i > 0 || last == "urlopen" || url.text != "") {
			kind = Uploads
		}
	}
	if last == "urlretrieve" {
		v := c.request(Downloads, url, name)
		if file := argOf(args, 1, "filename"); file.text != "" {
			c.write(file, v, name)
		}
		return v
	}
	sent = append(sent, c.header(value{from: receiver.from}))
	v := c.request(kind, url, name, sent...)
	v.name = ends1(name) + ".response()"
	return v
}

func ends1(name string) string {
	root, _ := ends(name)
	return strings.TrimSuffix(root, "()")
}

// socketCall evaluates functions of sockets.
func (c *code) socketCall(name, root, last string, receiver value, args []arg) (value, bool) {
	values := valuesOf(args)
	switch last {
	case "connect", "create_connection", "createConnection", "WebSocket", "TCPSocket", "open", "new", "connect_ex",
		"sendto", "create_connection()", "Socket":
		target := argOf(args, 0, "hostname", "host")
		if root == "net" || root == "tls" {
			if host := argOf(args, 1); host.text != "" && numeric(target.text) {
				target = host
			}
			if f, ok := target.field("host"); ok {
				target = f
			}
			if last == "Socket" || len(args) == 0 {
				return value{name: root + ".Socket()"}, true
			}
		}
		if last == "sendto" {
			target = argOf(args, 1)
		}
		if argv := target.partsOrEmpty().argv; len(argv) > 0 {
			target = argv[0]
		}
		detail, host := address(target.text)
		if host == "" {
			host = bareHost(target.text)
		}
		f := Fact{Kind: Connects, Detail: detail, Host: host, Client: root + "." + last, Sure: Certain}
		if host == "" {
			f.Sure = Possible
		}
		v := value{from: set{c.sink(f, values...)}, name: root + ".connection()"}
		if receiver.ref != "" {
			if old, ok := c.find(receiver.ref); ok {
				old.from = old.from.with(v.from)
				c.store(receiver.ref, old)
			}
		}
		return v, true
	case "send", "sendall", "write", "emit", "send_text", "exec_command", "put", "end":
		for _, id := range receiver.from {
			if n := c.sum.nodes[id]; n.fact >= 0 && c.sum.facts[n.fact].Kind == Connects {
				c.reach(union(values...).from, id)
			}
		}
		return value{from: receiver.from}, true
	case "socket", "SSHClient", "websocket":
		return value{name: root + ".socket()"}, true
	case "gethostname", "getfqdn", "gethostbyname", "getaddrinfo", "lookup", "isIP", "createServer", "bind", "listen",
		"setsockopt", "settimeout", "close", "inet_aton":
		return value{}, last != "gethostbyname" && last != "getaddrinfo"
	}
	return value{from: receiver.from.with(union(values...).from), name: root + ".connection()"},
		strings.Contains(name, "()")
}

// ambiguous reports whether the name of a library is also a usual name of variables.
func ambiguous(root string) bool {
	switch root {
	case "request", "http", "https", "got", "ky", "needle":
		return true
	}
	return false
}

// imported reports whether code imports a library.
func (c *code) imported(root string) bool {
	return c.required[root]
}

// logging evaluates Python's loggers, of which some send what they log to a host.
func (c *code) logging(last string, receiver value, args []arg) (value, bool) {
	const sends = "logging.HTTPHandler()"
	switch last {
	case "HTTPHandler", "SysLogHandler", "SocketHandler", "DatagramHandler":
		host := argOf(args, 0, "host", "address")
		return value{name: sends, text: host.text, literal: host.literal, from: host.from}, true
	case "addHandler":
		if h := argOf(args, 0); h.name == sends && receiver.ref != "" {
			c.store(receiver.ref, h)
		}
		return value{}, true
	case "debug", "info", "warning", "error", "critical", "exception", "log":
		if receiver.name == sends {
			c.sink(Fact{
				Kind: Uploads, Detail: receiver.text, Host: bareHost(receiver.text), Client: "logging.HTTPHandler", Sure: Likely,
			}, valuesOf(args)...)
			return value{}, true
		}
	}
	return value{}, false
}
