package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// server is a running server of another process.
type server struct {
	name string
	host string // host:port
	pid  int
}

// registryCommand is the argument that makes this program a registry, so that its CPU time is that of the registry.
const registryCommand = "serve-registry"

// runRegistry serves a registry until the process is ended.
func runRegistry(ctx context.Context, sys system) error {
	if len(sys.Args) != 2 {
		return usageError{errors.New("serve-registry needs a directory")}
	}
	host, stop, err := serveRegistry(sys.Args[1])
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintln(sys.Stderr, "listening on "+host)
	<-ctx.Done()
	return nil
}

// startAll starts all servers that this machine has.
func (l *load) startAll(ctx context.Context) error {
	olareg := exec.CommandContext(ctx, l.sys.Self, registryCommand, l.file("olareg"))
	if err := l.start("olareg", olareg); err != nil {
		return err
	}
	l.report.Versions = map[string]string{"skillpm": l.tools.skillpm.version}
	registry := l.findTool(ctx, "docker-registry", l.registryProgram, []string{"--version"})
	l.report.Versions["docker-registry"] = registry.version + registry.why
	if registry.path != "" {
		config, err := registryConfig(l.file("docker-registry"))
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, registry.path, "serve", config)
		cmd.Env = []string{"OTEL_TRACES_EXPORTER=none"}
		if err := l.start("docker-registry", cmd); err != nil {
			return err
		}
	}
	index := l.file("index-files") // largeIndex writes it
	if err := os.MkdirAll(index, 0o755); err != nil {
		return err
	}
	l.index = index
	nginx := l.findTool(ctx, "nginx", l.nginx, nil)
	if nginx.path == "" {
		l.report.Versions["nginx"] = nginx.why
		return nil
	}
	if out, err := exec.CommandContext(ctx, nginx.path, "-v").CombinedOutput(); err == nil {
		l.report.Versions["nginx"] = strings.TrimPrefix(strings.TrimSpace(string(out)), "nginx version: ")
	}
	for _, behind := range l.servers {
		if err := l.startNginx(ctx, nginx.path, behind); err != nil {
			return err
		}
	}
	return nil
}

// start starts a server that prints its address.
func (l *load) start(name string, cmd *exec.Cmd) error {
	host, stop, err := startListening(cmd)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l.stops = append(l.stops, stop)
	l.servers = append(l.servers, &server{name: name, host: host, pid: cmd.Process.Pid})
	return nil
}

// nginxExample is the configuration that users start from.
const nginxExample = "docs/examples/nginx.conf"

// startNginx starts nginx with the example, in front of a registry and the index.
func (l *load) startNginx(ctx context.Context, program string, behind *server) error {
	root, err := output(ctx, "", l.sys.Environ, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/skillpm/skillpm")
	if err != nil {
		return err
	}
	example, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(nginxExample)))
	if err != nil {
		return err
	}
	dir := l.file("nginx-" + behind.name)
	if err := l.fresh(dir); err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	config := filepath.Join(dir, "nginx.conf")
	text := localNginx(string(example), ports, dir, l.index, behind.host)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return err
	}
	global := "daemon off; pid " + dir + "/pid; error_log stderr warn;"
	if os.Geteuid() == 0 {
		global += " user root;"
	}
	args := []string{"-p", dir, "-c", config, "-e", "stderr", "-g", global}
	if out, err := exec.CommandContext(ctx, program, append(args, "-t")...).CombinedOutput(); err != nil {
		return fmt.Errorf("nginx -t: %w\n%s", err, out)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = l.sys.Stderr
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	l.stops = append(l.stops, func() { _ = cmd.Cancel(); _ = cmd.Wait() })
	for i, name := range []string{"nginx: index", "nginx: " + behind.name} {
		host := "127.0.0.1:" + ports[i]
		if err := waitFor(ctx, host); err != nil {
			return err
		}
		if i > 0 || l.find(name) == nil {
			l.servers = append(l.servers, &server{name: name, host: host, pid: cmd.Process.Pid})
		}
	}
	return nil
}

// localNginx returns the example for this machine: without TLS, with other ports and directories, and in front of
// another registry. Everything else is what users run.
func localNginx(example string, ports []string, dir, index, registry string) string {
	text := regexp.MustCompile(`(?m)^ *ssl_certificate.*\n`).ReplaceAllString(example, "")
	for _, port := range ports {
		text = strings.Replace(text, "listen 443 ssl;", "listen 127.0.0.1:"+port+";", 1)
	}
	return strings.NewReplacer("/var/cache/nginx/skillpm", dir+"/cache", "/srv/skillpm/index", index,
		"127.0.0.1:5000", registry, "http {\n", "http {\n  client_body_temp_path "+dir+"/body;\n  proxy_temp_path "+dir+
			"/proxy;\n  fastcgi_temp_path "+dir+"/fastcgi;\n  scgi_temp_path "+dir+"/scgi;\n  uwsgi_temp_path "+dir+
			"/uwsgi;\n").Replace(text)
}

// find returns a server by its name, or nil.
func (l *load) find(name string) *server {
	for _, s := range l.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// freePorts returns TCP ports that nobody listens on.
func freePorts(n int) (ports []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err = errors.Join(err, listener.Close()); err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// waitFor waits until a server accepts connections.
func waitFor(ctx context.Context, host string) error {
	for attempt := range 200 {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
		if err == nil {
			return conn.Close()
		}
		if attempt == 199 {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(25 * time.Millisecond):
		}
	}
	return nil
}

// cpuOf returns the CPU time of a process and its children, and false where the system does not have /proc.
func cpuOf(pid int) (time.Duration, bool) {
	const tick = time.Second / 100 // USER_HZ of Linux
	total, found := time.Duration(0), false
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(data), ") ")
		fields := strings.Fields(rest)
		own := filepath.Base(filepath.Dir(name)) == strconv.Itoa(pid)
		if len(fields) < 13 || !own && fields[1] != strconv.Itoa(pid) {
			continue
		}
		for _, field := range fields[11:13] { // utime and stime
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, false
			}
			total += time.Duration(n) * tick
		}
		found = true
	}
	return total, found
}

// startListening starts a program that prints "listening on HOST:PORT" to standard error, and returns this address.
func startListening(cmd *exec.Cmd) (host string, stop func(), err error) {
	ownGroup(cmd)
	output, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	drained := make(chan struct{})
	stop = func() { _ = cmd.Cancel(); <-drained; _ = cmd.Wait() } // it was killed
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { defer close(drained); _, _ = io.Copy(io.Discard, output) }()
			return m[1], stop, nil
		}
	}
	close(drained)
	stop()
	return "", nil, fmt.Errorf("%s did not print its address", cmd.Path)
}
