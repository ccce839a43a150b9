package credential

import "strings"

// Host returns the host, with its port where there is one, of what somebody wrote for a registry: host:port, or its
// address as oci://host, https://host/ or https://index.docker.io/v1/. It is spelled as it is looked up; what has a
// path is returned with it, and is no host.
func Host(server string) string {
	server = strings.TrimSpace(server)
	if scheme, rest, ok := strings.Cut(server, "://"); ok {
		switch strings.ToLower(scheme) {
		case "oci", "https", "http":
			server = rest
		}
	}
	server = strings.TrimRight(server, "/")
	host, path, _ := strings.Cut(server, "/")
	host = strings.ToLower(host)
	switch host {
	case "docker.io", "index.docker.io", "registry-1.docker.io":
		if host = "docker.io"; path == "v1" || path == "v2" {
			path = ""
		}
	}
	if path != "" {
		return host + "/" + path
	}
	return host
}
